#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace capstan::signals {

/// Parses a value as Prometheus does (Go's ParseFloat without hexadecimal numbers and underscores): decimals with an
/// exponent, "NaN", "Inf", "+Inf", "-Inf" and "Infinity" in any case. Returns nothing for any other text and for a
/// number too large for a double. A number too small for a double is 0.
std::optional<double> parse_number(std::string_view token);

/// Parses the decimal number at the start of a text if one exactly rounded operation gives its value (Clinger 1990: a
/// mantissa up to 2^53, multiplied or divided by at most 10^22). Returns the position after the number, or nullptr for
/// any other text.
inline const char* scan_simple_number(const char* at, const char* end, double& value) {
  constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const auto digit_at = [end](const char* p) { return p == end ? 10u : static_cast<unsigned char>(*p - '0'); };
  const bool negative = at != end && *at == '-';
  at += negative ? 1 : 0;
  const char* const start = at;
  std::uint64_t mantissa = 0;
  unsigned digit = 0;
  for (; (digit = digit_at(at)) < 10; ++at) mantissa = mantissa * 10 + digit;
  std::int64_t digits = at - start;
  std::int64_t exponent = 0;
  if (at != end && *at == '.') {
    const char* const fraction = ++at;
    for (; (digit = digit_at(at)) < 10; ++at) mantissa = mantissa * 10 + digit;
    exponent = fraction - at;
    digits -= exponent;
  }
  if (digits == 0 || digits > 19) return nullptr;
  if (at != end && (*at | 0x20) == 'e') {
    ++at;
    const bool down = at != end && *at == '-';
    if (at != end && (*at == '-' || *at == '+')) ++at;
    const char* const first = at;
    std::int64_t power = 0;
    for (; (digit = digit_at(at)) < 10 && at - first < 4; ++at) power = power * 10 + digit;
    if (at == first || digit < 10) return nullptr;
    exponent += down ? -power : power;
  }
  if (mantissa > (std::uint64_t{1} << 53) || exponent < -22 || exponent > 22) return nullptr;
  const auto integer = static_cast<double>(mantissa);
  const double scaled = exponent < 0 ? integer / kPowers[-exponent] : integer * kPowers[exponent];
  value = negative ? -scaled : scaled;
  return at;
}

}  // namespace capstan::signals
