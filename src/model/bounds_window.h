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
  static constexpr std::size_t kMost = 32;  ///< windows of one service

  Cron start;
  Duration duration{};  ///< at most `kLongest`
  std::optional<ReplicaCount> min;
  std::optional<ReplicaCount> max;
  friend bool operator==(const BoundsWindow&, const BoundsWindow&) = default;

  /// Returns true if the window applies at some moment from `from` to `to`.
  bool holds(Instant from, Instant to) const;
};

struct Bounds {
  ReplicaCount min = 0;
  ReplicaCount max = 0;
  friend bool operator==(const Bounds&, const Bounds&) = default;
};

/// Returns the bounds in force. Windows only tighten `always`, and a maximum wins over a higher minimum. A minimum
/// applies as soon as its window begins within `ahead`, so that its replicas can start in time, as far as the present
/// maximum allows.
/// @param now  counted from the Unix epoch; a simulation begins there
Bounds bounds_at(Bounds always, const std::vector<BoundsWindow>& windows, Instant now, Duration ahead);

}  // namespace capstan::model
