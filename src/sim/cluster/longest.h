#pragma once

#include "base/time.h"

namespace capstan::sim {

/// No time that is drawn or computed is longer: beyond every run, and an instant that adds a few of them still fits its
/// integer.
inline constexpr Duration kLongestWait = std::chrono::years(10);

}  // namespace capstan::sim
