#pragma once

#include <string_view>

namespace capstan::promql {

/// A function that maps each value on its own.
using InstantFunction = double (*)(double value);
/// Returns the function, or null if Capstan does not evaluate it.
InstantFunction find_instant_function(std::string_view name);

/// Computes Go's Pow with arithmetic that gives the same bits on every machine.
double power(double base, double exponent);
/// Rounds to the nearest multiple of `nearest`. Halves go up.
double round_to(double value, double nearest);

}  // namespace capstan::promql
