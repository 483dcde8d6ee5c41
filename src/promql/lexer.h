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
  std::string_view text;  ///< as it is written; the symbols are ( ) { } [ ] , : @ and the operators
  Span span;

  bool is(std::string_view symbol) const { return kind == Kind::symbol && text == symbol; }
  /// Keywords are words of any case: `SUM`, `By`.
  bool is_keyword(std::string_view lower_case) const;
};

/// Cuts a text into tokens; the last one is the end. An error carries the place of what is none.
Result<std::vector<Token>> read_tokens(std::string_view text, const std::string& source);

/// The message of an error at a place, in one form.
Error error_at(const std::string& source, const Place& place, std::string message);

// What tokens stand for; nothing where it is none.
std::optional<double> number_value(std::string_view text);       ///< 1.5e3, 0x1f, 017, Inf, nan
std::optional<Duration> duration_value(std::string_view text);   ///< 1h30m; units from y down to ms, each once
std::optional<std::string> string_value(std::string_view text);  ///< quotes and escapes resolved, as Go has them

}  // namespace capstan::promql
