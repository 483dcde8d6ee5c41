#pragma once

#include <chrono>
#include <cstdint>

#include "base/time.h"

/// Short names for times in tests.
namespace capstan::testing {

constexpr Instant at_ms(std::int64_t ms) { return {std::chrono::milliseconds(ms)}; }
constexpr Instant at_s(std::int64_t s) { return {std::chrono::seconds(s)}; }

/// The current time in tests. It is late enough that ago() returns no time before the start.
inline constexpr Instant kNow{std::chrono::hours(1)};
constexpr Instant ago(std::int64_t s) { return kNow - std::chrono::seconds(s); }

}  // namespace capstan::testing
