#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace capstan {

using Duration = std::chrono::nanoseconds;

/// Rounded towards zero: what people are told.
constexpr std::int64_t whole_seconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::seconds>(duration).count();
}
/// For arithmetic that is not exact anyway; `whole_seconds` is for people.
constexpr double in_seconds(Duration duration) { return static_cast<double>(duration.count()) * 1e-9; }

/// A moment on the monotonic clock that the caller injects: nanoseconds since the start of a run. No code below the
/// edges reads a system clock.
struct Instant {
  Duration since_start{};

  static constexpr Instant never() { return {Duration::max()}; }
  constexpr bool is_never() const { return since_start == Duration::max(); }

  friend constexpr auto operator<=>(Instant, Instant) = default;
  friend constexpr Duration operator-(Instant a, Instant b) { return a.since_start - b.since_start; }
  friend constexpr Instant operator+(Instant a, Duration d) { return {a.since_start + d}; }
  friend constexpr Instant operator-(Instant a, Duration d) { return {a.since_start - d}; }
};

}  // namespace capstan
