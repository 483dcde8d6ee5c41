#pragma once

#include <cstdint>

#include "base/time.h"
#include "net/monotonic.h"

namespace capstan::emulator {

/// A clock that starts at 0 when it is constructed and runs faster or slower than another clock.
class ScaledClock {
 public:
  /// `speed_milli` is the speed relative to `world`, times 1000; at least 1.
  ScaledClock(net::Clock world, std::int64_t speed_milli)
      : world_(std::move(world)), started_(world_()), speed_milli_(speed_milli) {}

  Instant now() const { return {scaled(world_() - started_, speed_milli_, 1000)}; }
  /// Returns the time on the `world` clock until this clock shows `at`, rounded up; 0 if `at` has passed.
  Duration until(Instant at) const {
    if (at.is_never()) return Duration::max();
    const Instant current = now();
    return at <= current ? Duration{} : scaled(at - current, 1000, speed_milli_) + Duration{1};
  }
  net::Clock clock() const {
    return [copy = *this] { return copy.now(); };
  }

 private:
  static Duration scaled(Duration time, std::int64_t numerator, std::int64_t denominator) {
    return Duration{static_cast<std::int64_t>(static_cast<__int128>(time.count()) * numerator / denominator)};
  }

  net::Clock world_;
  Instant started_;
  std::int64_t speed_milli_;
};

}  // namespace capstan::emulator
