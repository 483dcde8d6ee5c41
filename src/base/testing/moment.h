#pragma once

#include <chrono>
#include <cstdint>

#include "base/time.h"

/// Moments as tests say them.
namespace capstan::testing {

constexpr Instant at_ms(std::int64_t ms) { return {std::chrono::milliseconds(ms)}; }
constexpr Instant at_s(std::int64_t s) { return {std::chrono::seconds(s)}; }

/// Late enough for everything that is said to be ago.
inline constexpr Instant kNow{std::chrono::hours(1)};
constexpr Instant ago(std::int64_t s) { return kNow - std::chrono::seconds(s); }

}  // namespace capstan::testing
