#include "promql/lexer.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "base/ascii.h"
#include "base/utf8.h"

namespace capstan::promql {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_alpha(c) || is_digit(c) || c == ':'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool equals_in_any_case(std::string_view text, std::string_view lower_case) {
  if (text.size() != lower_case.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (ascii_lower(text[i]) != lower_case[i]) return false;
  }
  return true;
}

class Lexer {
 public:
  Lexer(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  Result<std::vector<Token>> read() {
    std::vector<Token> tokens;
    for (;;) {
      skip_blanks();
      start_ = place_;
      const char c = peek();
      if (done()) {
        tokens.push_back(token(Token::Kind::end));
        return tokens;
      }
      if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
        tokens.push_back(token(number_or_duration()));
      } else if (is_alpha(c) || (c == ':' && brackets_ == 0)) {
        while (is_word(peek()) && !(brackets_ > 0 && peek() == ':')) advance();
        tokens.push_back(token(Token::Kind::word));
      } else if (c == '"' || c == '\'' || c == '`') {
        if (!quoted(c)) return std::unexpected(error_at(source_, start_, "the string has no closing quote"));
        tokens.push_back(token(Token::Kind::string));
      } else if (symbol()) {
        tokens.push_back(token(Token::Kind::symbol));
      } else {
        return std::unexpected(error_at(source_, start_, "found a character that PromQL does not use here"));
      }
    }
  }

 private:
  bool done() const { return place_.offset >= text_.size(); }
  char peek(std::size_t ahead = 0) const {
    return place_.offset + ahead < text_.size() ? text_[place_.offset + ahead] : '\0';
  }
  void advance() {
    if (text_[place_.offset] == '\n') {
      ++place_.line;
      place_.column = 0;
    }
    ++place_.offset;
    ++place_.column;
  }
  Token token(Token::Kind kind) const {
    return {kind, text_.substr(start_.offset, place_.offset - start_.offset), {start_, place_.offset}};
  }

  void skip_blanks() {
    while (!done() && (is_blank(peek()) || peek() == '#')) {
      if (peek() == '#') {
        while (!done() && peek() != '\n') advance();
      } else {
        advance();
      }
    }
  }

  void skip_digits(bool hexadecimal) {
    const auto is_hex = [](char c) { return is_digit(c) || (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'f'); };
    while (hexadecimal ? is_hex(peek()) : is_digit(peek())) advance();
  }

  /// Reads a number, or a duration if the letters of a unit follow.
  Token::Kind number_or_duration() {
    const Place start = place_;
    const bool hexadecimal = peek() == '0' && ascii_lower(peek(1)) == 'x';
    if (hexadecimal) advance(), advance();
    skip_digits(hexadecimal);
    if (peek() == '.') advance(), skip_digits(hexadecimal);
    if (!hexadecimal && ascii_lower(peek()) == 'e') {
      advance();
      if (peek() == '+' || peek() == '-') advance();
      skip_digits(false);
    }
    if (!is_alpha(peek()) && !is_digit(peek())) return Token::Kind::number;
    place_ = start;
    while (is_alpha(peek()) || is_digit(peek()) || peek() == '.') advance();
    return Token::Kind::duration;
  }

  bool quoted(char quote) {
    advance();
    while (!done() && peek() != quote) {
      if (quote != '`' && peek() == '\n') return false;
      if (quote != '`' && peek() == '\\') advance();
      if (!done()) advance();
    }
    if (done()) return false;
    advance();
    return true;
  }

  bool symbol() {
    for (const std::string_view two : {"==", "!=", "=~", "!~", "<=", ">="}) {
      if (text_.substr(place_.offset).starts_with(two)) return advance(), advance(), true;
    }
    const char c = peek();
    if (std::string_view("(){}[],:@+-*/%^<>=").find(c) == std::string_view::npos) return false;
    if (c == '[') ++brackets_;
    if (c == ']' && brackets_ > 0) --brackets_;
    advance();
    return true;
  }

  std::string_view text_;
  const std::string& source_;
  Place place_;
  Place start_;
  int brackets_ = 0;
};

/// Returns the value of an escape's digits, or nothing if a digit is missing.
std::optional<std::uint32_t> escape_digits(std::string_view text, std::size_t count, int base) {
  if (text.size() < count) return std::nullopt;
  std::uint32_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + count, value, base);
  if (fault != std::errc() || end != text.data() + count) return std::nullopt;
  return value;
}

/// Appends the character of one escape. `text` starts after the backslash. Returns the number of bytes read, or 0 if
/// the escape is invalid.
std::size_t append_escape(std::string& out, std::string_view text, char quote) {
  if (text.empty()) return 0;
  constexpr std::string_view kLetters = "abfnrtv\\";
  constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\";
  if (const std::size_t at = kLetters.find(text[0]); at != std::string_view::npos) return out += kMeanings[at], 1;
  if (text[0] == quote) return out += quote, 1;
  if (text[0] >= '0' && text[0] <= '7') {
    const auto code = escape_digits(text, 3, 8);
    return code && *code <= 255 ? (out += static_cast<char>(*code), 3) : 0;
  }
  const std::size_t digits = text[0] == 'x' ? 2 : text[0] == 'u' ? 4 : text[0] == 'U' ? 8 : 0;
  if (digits == 0) return 0;
  const auto code = escape_digits(text.substr(1), digits, 16);
  if (!code) return 0;
  if (digits == 2) return out += static_cast<char>(*code), 3;
  if (*code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000)) return 0;
  append_utf8(out, *code);
  return 1 + digits;
}

}  // namespace

bool Token::is_keyword(std::string_view lower_case) const {
  return kind == Kind::word && equals_in_any_case(text, lower_case);
}

Error error_at(const std::string& source, const Place& place, std::string message) {
  return {.kind = ErrorKind::input, .file = source, .line = place.line, .column = place.column, .message = message};
}

Result<std::vector<Token>> read_tokens(std::string_view text, const std::string& source) {
  return Lexer(text, source).read();
}

std::optional<double> number_value(std::string_view text) {
  if (equals_in_any_case(text, "inf")) return std::numeric_limits<double>::infinity();
  if (equals_in_any_case(text, "nan")) return std::numeric_limits<double>::quiet_NaN();
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const bool octal = text.size() > 1 && text[0] == '0' && text.find_first_not_of("01234567") == text.npos;
  const char* const end = text.data() + text.size();
  if (hexadecimal || octal) {
    std::int64_t integer = 0;
    const auto [at, fault] = std::from_chars(text.data() + (octal ? 1 : 2), end, integer, octal ? 8 : 16);
    if (fault == std::errc() && at == end) return static_cast<double>(integer);
    if (hexadecimal) return std::nullopt;
  }
  double value = 0;
  const auto [at, fault] = std::from_chars(text.data(), end, value);
  if (fault == std::errc::invalid_argument || at != end) return std::nullopt;
  if (fault == std::errc::result_out_of_range) {
    // std::from_chars() does not say whether the number is too large, which is an error, or too small, which is 0.
    const double nearest = std::strtod(std::string(text).c_str(), nullptr);
    return std::isinf(nearest) ? std::nullopt : std::optional(nearest);
  }
  return value;
}

std::optional<Duration> duration_value(std::string_view text) {
  using namespace std::chrono;
  struct Unit {
    std::string_view name;
    std::int64_t ms;
  };
  constexpr Unit kUnits[] = {{"y", 365ll * 86'400'000},
                             {"w", 7ll * 86'400'000},
                             {"d", 86'400'000},
                             {"h", 3'600'000},
                             {"m", 60'000},
                             {"s", 1000},
                             {"ms", 1}};
  std::size_t next_unit = 0;
  std::int64_t total = 0;
  while (!text.empty()) {
    std::int64_t count = 0;
    const auto [at, fault] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (fault != std::errc() || count < 0 || !is_digit(text[0])) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(at - text.data()));
    std::size_t letters = 0;
    while (letters < text.size() && is_alpha(text[letters])) ++letters;
    while (next_unit < std::size(kUnits) && kUnits[next_unit].name != text.substr(0, letters)) ++next_unit;
    if (next_unit == std::size(kUnits)) return std::nullopt;
    std::int64_t part = 0;
    if (__builtin_mul_overflow(count, kUnits[next_unit++].ms, &part)) return std::nullopt;
    if (__builtin_add_overflow(total, part, &total)) return std::nullopt;
    text.remove_prefix(letters);
  }
  constexpr std::int64_t kMaxMs = std::numeric_limits<std::int64_t>::max() / 1'000'000;
  if (total > kMaxMs) return std::nullopt;
  return Duration(total * 1'000'000);
}

std::optional<std::string> string_value(std::string_view text) {
  const char quote = text.front();
  text = text.substr(1, text.size() - 2);
  std::string out;
  if (quote == '`') {
    for (const char c : text) {
      if (c != '\r') out += c;
    }
    return out;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    const std::size_t length = append_escape(out, text.substr(i + 1), quote);
    if (length == 0) return std::nullopt;
    i += length;
  }
  return out;
}

}  // namespace capstan::promql
