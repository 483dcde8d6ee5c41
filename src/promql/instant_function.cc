#include "promql/instant_function.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "promql/value.h"

#include "base/portable_math.h"

namespace capstan::promql {
namespace {

constexpr double kLn2 = 0.693147180559945309417;
constexpr double kLn10 = 2.302585092994045684018;
constexpr double kMaxExponent = 700;  // the limit of portable_exp

double natural_log(double x) {
  if (std::isnan(x) || x < 0) return kNan;
  if (x == 0) return -kInfinity;
  if (std::isinf(x)) return x;
  // portable_log does not take subnormal numbers.
  return x < std::numeric_limits<double>::min() ? portable_log(x * 0x1p64) - 64 * kLn2 : portable_log(x);
}

double exponential(double x) {
  if (std::isnan(x)) return x;
  if (x > kMaxExponent)
    return x > 709.782712893384 ? kInfinity : portable_exp(x - kMaxExponent) * portable_exp(kMaxExponent);
  if (x < -kMaxExponent) return x < -745.2 ? 0 : portable_exp(x + kMaxExponent) * portable_exp(-kMaxExponent);
  return portable_exp(x);
}

double sign(double x) { return x < 0 ? -1 : x > 0 ? 1 : x; }

struct InstantEntry {
  std::string_view name;
  InstantFunction function;
};

constexpr InstantEntry kInstantFunctions[] = {
    {"abs", [](double x) { return std::abs(x); }},
    {"ceil", [](double x) { return std::ceil(x); }},
    {"floor", [](double x) { return std::floor(x); }},
    {"sqrt", [](double x) { return std::sqrt(x); }},
    {"sgn", sign},
    {"exp", exponential},
    {"ln", natural_log},
    {"log2", [](double x) { return natural_log(x) / kLn2; }},
    {"log10", [](double x) { return natural_log(x) / kLn10; }},
};

}  // namespace

InstantFunction find_instant_function(std::string_view name) {
  const auto* found = std::ranges::find(kInstantFunctions, name, &InstantEntry::name);
  return found == std::end(kInstantFunctions) ? nullptr : found->function;
}

double power(double base, double exponent) {
  if (exponent == 0 || base == 1) return 1;
  if (std::isnan(base) || std::isnan(exponent)) return kNan;
  const bool whole = std::trunc(exponent) == exponent;
  const bool odd = whole && std::fmod(exponent, 2) != 0;
  constexpr double kMaxSteps = 64;
  if (whole && std::abs(exponent) <= kMaxSteps) {
    double product = 1;
    for (int i = 0; i < static_cast<int>(std::abs(exponent)); ++i) product *= base;
    return exponent < 0 ? 1 / product : product;
  }
  if (base < 0 && !whole && !std::isinf(base)) return kNan;
  const double size = exponential(exponent * natural_log(std::abs(base)));
  if (std::abs(base) == 1) return odd ? base : 1;
  return base < 0 && odd ? -size : size;
}

double round_to(double value, double nearest) {
  const double inverse = 1.0 / nearest;
  return std::floor(value * inverse + 0.5) / inverse;
}

}  // namespace capstan::promql
