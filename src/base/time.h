#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace capstan {

using Duration = std::chrono::nanoseconds;

/// Returns whole seconds, rounded towards zero, for messages.
constexpr std::int64_t whole_seconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::seconds>(duration).count();
}
/// Returns seconds as a floating-point number, for arithmetic that does not have to be exact.
constexpr double in_seconds(Duration duration) { return static_cast<double>(duration.count()) * 1e-9; }

/// A time in nanoseconds since the start of the caller's clock: the start of a simulated run, the Unix epoch for
/// snapshots of a cluster, the start of the machine in network code. Only the edges of the program read a clock.
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
