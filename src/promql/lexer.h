#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "promql/expression.h"

namespace capstan::promql {

struct Token {
  enum class Kind : std::uint8_t { word, number, duration, string, symbol, end };
  Kind kind = Kind::end;
  std::string_view text;  ///< text as in the source; the symbols are ( ) { } [ ] , : @ and the operators
  Span span;

  bool is(std::string_view symbol) const { return kind == Kind::symbol && text == symbol; }
  /// Returns true if the token is this keyword. Keywords may have any case: `SUM`, `By`.
  bool is_keyword(std::string_view lower_case) const;
};

/// Splits a text into tokens; the last one is the end. An error has the place of the first character that starts no
/// token.
Result<std::vector<Token>> read_tokens(std::string_view text, const std::string& source);

/// Builds an input error at a place.
Error error_at(const std::string& source, const Place& place, std::string message);

// These functions return the value of a token, or nothing if the text is invalid.
std::optional<double> number_value(std::string_view text);       ///< 1.5e3, 0x1f, 017, Inf, nan
std::optional<Duration> duration_value(std::string_view text);   ///< 1h30m; units from y to ms, each at most once
std::optional<std::string> string_value(std::string_view text);  ///< without quotes; escapes resolved as in Go

}  // namespace capstan::promql
