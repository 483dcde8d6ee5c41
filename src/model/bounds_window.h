#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/cron.h"
#include "base/quantity.h"
#include "base/time.h"

namespace capstan::model {

/// Bounds on replicas that hold at certain times beside those that always do: no fewer, no more.
struct BoundsWindow {
  static constexpr Duration kLongest = std::chrono::days(31);
  static constexpr std::size_t kMost = 32;  ///< of a service

  Cron start;
  Duration duration{};  ///< at most `kLongest`
  std::optional<ReplicaCount> min;
  std::optional<ReplicaCount> max;
  friend bool operator==(const BoundsWindow&, const BoundsWindow&) = default;

  /// It holds at some moment from `from` to `to`.
  bool holds(Instant from, Instant to) const;
};

struct Bounds {
  ReplicaCount min = 0;
  ReplicaCount max = 0;
  friend bool operator==(const Bounds&, const Bounds&) = default;
};

/// The bounds in force: windows only tighten those that always hold, and where a floor lies above a ceiling the ceiling
/// counts. A floor is in force as soon as its window begins within `ahead`, so that what has to start by then is told
/// to, as far as the ceiling allows that is in force now.
/// @param now  counted from the Unix epoch; a simulation begins there
Bounds bounds_at(Bounds always, const std::vector<BoundsWindow>& windows, Instant now, Duration ahead);

}  // namespace capstan::model
