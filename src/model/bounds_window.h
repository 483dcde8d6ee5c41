#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/cron.h"
#include "base/quantity.h"
#include "base/time.h"

namespace capstan::model {

/// Additional bounds on replicas that apply at certain times.
struct BoundsWindow {
  static constexpr Duration kLongest = std::chrono::days(31);
  static constexpr std::size_t kMax = 32;  ///< most windows of one service

  Cron start;
  Duration duration{};  ///< length of the window, at most `kLongest`
  std::optional<ReplicaCount> min;
  std::optional<ReplicaCount> max;
  friend bool operator==(const BoundsWindow&, const BoundsWindow&) = default;

  /// Returns true if the window applies at any time from `from` to `to`.
  bool applies_within(Instant from, Instant to) const;
};

struct Bounds {
  ReplicaCount min = 0;
  ReplicaCount max = 0;
  friend bool operator==(const Bounds&, const Bounds&) = default;
};

/// Returns the bounds in force at `now`. Outside of windows the bounds `base` apply, and a window can only tighten
/// them. A minimum already applies during the time `ahead` before its window, so that its replicas can start in time.
/// If the minimum is above the maximum, the maximum applies.
/// @param now  time since the Unix epoch; a simulation begins at the epoch
Bounds bounds_at(Bounds base, const std::vector<BoundsWindow>& windows, Instant now, Duration ahead);

}  // namespace capstan::model
