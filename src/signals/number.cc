#include "signals/number.h"

#include <charconv>
#include <limits>

namespace capstan::signals {
namespace {

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] | 0x20) : text[i];
    if (c != lower[i]) return false;
  }
  return true;
}

/// Returns true if a decimal number that does not fit into a double is too small, false if it is too large. The
/// position of its first digit other than 0 decides.
bool is_too_small(std::string_view decimal) {
  const std::size_t e = decimal.find_first_of("eE");
  const std::string_view digits = decimal.substr(0, e);
  const std::size_t first = digits.find_first_of("123456789");
  if (first == std::string_view::npos) return true;
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const auto magnitude = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
  std::int64_t power = 0;
  if (e != std::string_view::npos) {
    std::string_view exponent = decimal.substr(e + 1);
    if (exponent.starts_with('+')) exponent.remove_prefix(1);
    const bool down = exponent.starts_with('-');
    if (std::from_chars(exponent.data(), exponent.data() + exponent.size(), power).ec != std::errc{}) return down;
  }
  return power < -magnitude;
}

}  // namespace

std::optional<double> parse_number(std::string_view token) {
  const bool sign = token.starts_with('+') || token.starts_with('-');
  const bool negative = token.starts_with('-');
  const std::string_view rest = token.substr(sign ? 1 : 0);
  if (equals_ignoring_case(rest, "inf") || equals_ignoring_case(rest, "infinity")) {
    const double infinity = std::numeric_limits<double>::infinity();
    return negative ? -infinity : infinity;
  }
  if (!sign && equals_ignoring_case(rest, "nan")) return std::numeric_limits<double>::quiet_NaN();
  if (rest.empty() || rest.find_first_not_of("0123456789.eE+-") != std::string_view::npos) return std::nullopt;
  if (rest.front() == '-' || rest.front() == '+') return std::nullopt;
  double value = 0;
  const char* const end = rest.data() + rest.size();
  const auto [at, code] = std::from_chars(rest.data(), end, value, std::chars_format::general);
  if (at != end || code == std::errc::invalid_argument) return std::nullopt;
  if (code == std::errc::result_out_of_range) {
    if (!is_too_small(rest)) return std::nullopt;
    value = 0;
  }
  return negative ? -value : value;
}

}  // namespace capstan::signals
