#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace capstan::engine {

/// A small table with a header line. Fields are views into the text. Quoted fields are not supported, because the
/// tables of measured engines have none; a quote is an error.
class Csv {
 public:
  /// Parses a table. Fails on NUL bytes, quotes, a missing header, or a row with more or fewer fields than the header.
  /// Skips empty lines. `text` must outlive the table.
  static Result<Csv> parse(std::string_view text, std::string file);

  std::size_t rows() const { return lines_.size(); }
  std::uint32_t line(std::size_t row) const { return lines_[row]; }

  /// Returns the index of the column with that name, or an Error if there is none.
  Result<std::size_t> column(std::string_view name) const;
  std::string_view field(std::size_t row, std::size_t column) const { return fields_[row * columns_.size() + column]; }

  /// Returns a decimal number as an integer count of 10^-`decimals`; further digits are rounded to the nearest. The
  /// result is exact, because no floating point is involved. Fails if the field is negative or not a number, or if
  /// the result would be 9e17 or more.
  Result<std::int64_t> scaled(std::size_t row, std::size_t column, int decimals) const;

  Error error_at(std::size_t row, std::size_t column, std::string message) const;

 private:
  std::string file_;
  std::vector<std::string_view> columns_;
  std::vector<std::string_view> fields_;
  std::vector<std::uint32_t> lines_;
};

}  // namespace capstan::engine
