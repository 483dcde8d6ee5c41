#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"

namespace capstan::signals {

/// A classic histogram: how many observations were at most each bound. Bounds ascend, the last is `kInfinity`, and the
/// counts never fall from one to the next.
struct Histogram {
  static constexpr std::int64_t kInfinity = INT64_MAX;
  std::vector<std::int64_t> bounds;  ///< in the unit of the signal
  std::vector<std::int64_t> counts;  ///< cumulative

  std::int64_t total() const { return counts.empty() ? 0 : counts.back(); }
  /// Adds the observations of another; one with other bounds replaces this.
  void add(const Histogram& other);
  friend bool operator==(const Histogram&, const Histogram&) = default;
};

/// The value below which `share_ppm` of the observations lie, as Prometheus' histogram_quantile has it, rounded down:
/// linear within a bucket whose lower bound is the one before (0 for the first); within the last, which has no end, the
/// bound before it. Nothing where nothing was observed.
std::optional<std::int64_t> quantile(const Histogram& histogram, std::int64_t share_ppm);

/// Share of the observations above the value, millionths, as Prometheus' histogram_fraction has it, rounded down:
/// linear within a bucket; those of the last, which has no end, are above any. Nothing where nothing was observed.
std::optional<std::int64_t> share_above_ppm(const Histogram& histogram, std::int64_t value);

/// What was observed lately: increments, kept in eight slots that together span the window, so that memory does not
/// grow with the number of pages. It covers between 7/8 and 8/8 of the window.
class WindowedHistogram {
 public:
  static constexpr std::size_t kSlots = 8;

  void add(const Histogram& increment, Instant at, Duration window);
  Histogram sum(Instant now, Duration window) const;

 private:
  struct Slot {
    std::int64_t number = -1;  ///< of the slot's span of time since the start
    Histogram increment;
  };
  std::array<Slot, kSlots> slots_;
};

}  // namespace capstan::signals
