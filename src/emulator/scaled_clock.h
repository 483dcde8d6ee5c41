#pragma once

#include <cstdint>

#include "base/time.h"
#include "net/monotonic.h"

namespace capstan::emulator {

/// A clock that begins at 0 when it is made, and from then on runs faster or slower than another.
class ScaledClock {
 public:
  /// `speed_milli` thousandths of the other's speed, 1 or more.
  ScaledClock(net::Clock world, std::int64_t speed_milli)
      : world_(std::move(world)), started_(world_()), speed_milli_(speed_milli) {}

  Instant now() const { return {scaled(world_() - started_, speed_milli_, 1000)}; }
  /// How long the other clock takes until this one shows `at`, rounded up; 0 if it does already.
  Duration until(Instant at) const {
    if (at.is_never()) return Duration::max();
    const Instant here = now();
    return at <= here ? Duration{} : scaled(at - here, 1000, speed_milli_) + Duration{1};
  }
  net::Clock clock() const {
    return [copy = *this] { return copy.now(); };
  }

 private:
  static Duration scaled(Duration time, std::int64_t times, std::int64_t over) {
    return Duration{static_cast<std::int64_t>(static_cast<__int128>(time.count()) * times / over)};
  }

  net::Clock world_;
  Instant started_;
  std::int64_t speed_milli_;
};

}  // namespace capstan::emulator
