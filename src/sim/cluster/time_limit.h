#pragma once

#include "base/time.h"

namespace capstan::sim {

/// The upper limit of every time that is drawn or computed. It is longer than any run, and a sum of a few such times
/// still fits into an Instant.
inline constexpr Duration kMaxDuration = std::chrono::years(10);

}  // namespace capstan::sim
