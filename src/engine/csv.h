#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace capstan::engine {

/// A small table with a header line, every field a view into the text. Plain commas: the tables of measured engines
/// have no quoted fields, and a quote is an error.
class Csv {
 public:
  /// Fails on NUL bytes, quotes, a missing header, or a row with more or fewer fields than the header. Empty lines are
  /// skipped. `text` must outlive the table.
  static Result<Csv> parse(std::string_view text, std::string file);

  std::size_t rows() const { return lines_.size(); }
  std::uint32_t line(std::size_t row) const { return lines_[row]; }

  /// The number of the column of that name, or the Error that it is missing.
  Result<std::size_t> column(std::string_view name) const;
  std::string_view field(std::size_t row, std::size_t column) const { return fields_[row * columns_.size() + column]; }

  /// A decimal number as an integer count of 10^-`decimals`; further digits are rounded to the nearest. Exact: no
  /// floating point between the file and the table. Fails if it is no number, negative, or not below 9e17.
  Result<std::int64_t> scaled(std::size_t row, std::size_t column, int decimals) const;

  Error error_at(std::size_t row, std::size_t column, std::string message) const;

 private:
  std::string file_;
  std::vector<std::string_view> columns_;
  std::vector<std::string_view> fields_;
  std::vector<std::uint32_t> lines_;
};

}  // namespace capstan::engine
