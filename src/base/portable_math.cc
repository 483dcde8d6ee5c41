#include "base/portable_math.h"

#include <bit>
#include <cstdint>

#include "base/assert.h"

namespace capstan {
namespace {

constexpr double kLn2High = 6.93147180369123816490e-01;  // upper bits of ln 2, exact when multiplied by small integers
constexpr double kLn2Low = 1.90821492927058770002e-10;   // lower bits of ln 2
constexpr double kInvLn2 = 1.44269504088896338700e+00;

/// Returns 2^k; the result must be a normal number.
double power_of_two(int k) { return std::bit_cast<double>(static_cast<std::uint64_t>(k + 1023) << 52); }

}  // namespace

double portable_log(double x) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  CAPSTAN_ASSERT(x > 0 && (bits >> 52) != 0 && (bits >> 52) != 0x7ff);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0x000f'ffff'ffff'ffffULL) | 0x3ff0'0000'0000'0000ULL);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  // log m = 2 atanh s with |s| <= 0.1716, so the 11th term of the series is below 1e-17.
  const double s = (m - 1.0) / (m + 1.0);
  const double s2 = s * s;
  double series = 0;
  for (int k = 21; k >= 3; k -= 2) series = (series + 1.0 / k) * s2;
  const double log_m = 2.0 * (s + s * series);
  return exponent * kLn2High + (log_m + exponent * kLn2Low);
}

double portable_exp(double x) {
  CAPSTAN_ASSERT(x >= -700 && x <= 700);
  const double scaled = x * kInvLn2;
  const int k = static_cast<int>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
  const double r = (x - k * kLn2High) - k * kLn2Low;  // |r| <= 0.35
  double series = 1.0;
  for (int n = 14; n >= 1; --n) series = 1.0 + series * r / n;
  return series * power_of_two(k);
}

double portable_pow(double x, double y) { return portable_exp(y * portable_log(x)); }

double portable_sin_turns(double turns) {
  double fraction = turns - static_cast<double>(static_cast<std::int64_t>(turns));
  if (fraction < 0) fraction += 1.0;
  // Reduce to [-1/4, 1/4] of a turn, where the series converges fast.
  if (fraction > 0.75)
    fraction -= 1.0;
  else if (fraction > 0.25)
    fraction = 0.5 - fraction;
  const double x = fraction * 6.283185307179586;
  const double x2 = x * x;
  double series = 1.0;
  for (int n = 20; n >= 2; n -= 2) series = 1.0 - series * x2 / (n * (n + 1));
  return x * series;
}

}  // namespace capstan
