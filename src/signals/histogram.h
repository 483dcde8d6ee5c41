#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"

namespace capstan::signals {

/// A classic Prometheus histogram: for every bound, the number of observations that are at most that bound. The bounds
/// ascend, the last one is `kInfinity`, and no count is below the one before it.
struct Histogram {
  static constexpr std::int64_t kInfinity = INT64_MAX;
  std::vector<std::int64_t> bounds;  ///< upper bounds in the unit of the signal
  std::vector<std::int64_t> counts;  ///< cumulative numbers of observations

  std::int64_t total() const { return counts.empty() ? 0 : counts.back(); }
  /// Adds the observations of another histogram. If the bounds differ, the other histogram replaces this one.
  void add(const Histogram& other);
  friend bool operator==(const Histogram&, const Histogram&) = default;
};

/// Returns the value below which `share_ppm` (millionths) of the observations lie, rounded down, or nothing without
/// observations. Like Prometheus' histogram_quantile, it interpolates linearly within a bucket, whose lower bound is
/// the bound before it (0 for the first). In the last bucket, which is unbounded, it returns the bound before it.
std::optional<std::int64_t> quantile(const Histogram& histogram, std::int64_t share_ppm);

/// Returns the share of the observations above `value` in millionths, rounded down, or nothing without observations.
/// Like Prometheus' histogram_fraction, it interpolates linearly within a bucket. All observations in the last bucket,
/// which is unbounded, count as above `value`.
std::optional<std::int64_t> share_above_ppm(const Histogram& histogram, std::int64_t value);

/// The observations of a sliding window. They are added up in eight slots, so that memory does not grow with the number
/// of pages. The slots span the window, and their sum covers between 7/8 and 8/8 of it.
class WindowedHistogram {
 public:
  static constexpr std::size_t kSlots = 8;

  void add(const Histogram& increment, Instant at, Duration window);
  Histogram sum(Instant now, Duration window) const;

 private:
  struct Slot {
    std::int64_t number = -1;  ///< index of the slot's time span since the start; -1: empty
    Histogram increment;
  };
  std::array<Slot, kSlots> slots_;
};

}  // namespace capstan::signals
