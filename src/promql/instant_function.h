#pragma once

#include <string_view>

namespace capstan::promql {

/// A function of each value alone. Null where it is not evaluated here.
using InstantFunction = double (*)(double value);
InstantFunction find_instant_function(std::string_view name);

/// Go's Pow, from arithmetic that gives the same bits everywhere.
double power(double base, double exponent);
/// The nearest multiple; halves go up.
double round_to(double value, double nearest);

}  // namespace capstan::promql
