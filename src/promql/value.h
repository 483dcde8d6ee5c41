#pragma once

#include <limits>

namespace capstan::promql {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace capstan::promql
