#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"

/// What Knative's autoscaler keeps of its metrics. Source: knative/serving pkg/autoscaler/aggregation and metrics.
namespace capstan::decide::scale::kpa {

/// Rounded down also before the origin, so that every granule is equally long; Knative's times are never below 0.
constexpr std::int64_t granule_of(std::int64_t at, std::int64_t granularity) {
  return at / granularity - (at % granularity < 0 ? 1 : 0);
}

/// The highest value of the last `length` indices, the newest included.
class MaxWindow {
 public:
  explicit MaxWindow(std::int64_t length) : length_(length) {}
  /// @param index not before that of an earlier record
  void record(std::int64_t index, ReplicaCount value);
  /// Of the window that ends with the last record; 0 before the first.
  ReplicaCount max() const { return falling_.empty() ? 0 : falling_.front().value; }
  friend bool operator==(const MaxWindow&, const MaxWindow&) = default;

 private:
  struct Entry {
    std::int64_t index;
    ReplicaCount value;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  std::int64_t length_;
  std::vector<Entry> falling_;  ///< each is larger than all that follow it
};

/// The same over time: values of one granule of time collapse to their maximum.
class MaxTimeWindow {
 public:
  /// @param granularity at least a second; seconds are counted whole
  MaxTimeWindow(Duration window, Duration granularity);
  void record(Instant now, ReplicaCount value);
  ReplicaCount max() const { return window_.max(); }
  friend bool operator==(const MaxTimeWindow&, const MaxTimeWindow&) = default;

 private:
  std::int64_t granule_s_;
  MaxWindow window_;
};

/// The mean of what each granule of time in a window was given. Gaps inside count as 0; before the window is full the
/// divisor is the time since the first record; a silence of a whole window begins anew.
class AverageWindow {
 public:
  AverageWindow(Duration window, Duration granularity);
  /// Values of one granule add up. One that is a window older than the newest is dropped.
  void record(Instant now, double value);
  /// Cut after six decimals, as Knative cuts it. A moment before the last record gives the whole window.
  double average(Instant now) const;

 private:
  std::int64_t index_of(Instant at) const { return granule_of(at.since_start.count(), granularity_.count()); }
  double& bucket(std::int64_t index) { return buckets_[slot(index)]; }
  double bucket(std::int64_t index) const { return buckets_[slot(index)]; }
  std::size_t slot(std::int64_t index) const {
    const auto size = static_cast<std::int64_t>(buckets_.size());
    return static_cast<std::size_t>((index % size + size) % size);
  }

  Duration granularity_;
  std::int64_t window_;  ///< granules
  std::vector<double> buckets_;
  double total_ = 0;
  struct Written {
    std::int64_t first, last;
  };
  std::optional<Written> written_;  ///< indices
};

/// The `weighted-exponential` mean of the same granules: the newest weighs `smoothing_coefficient`, each one before it
/// what is left of that share. Granules without a record weigh, and hold nothing.
class WeightedWindow {
 public:
  WeightedWindow(Duration window, Duration granularity);
  void record(Instant now, double value);
  double average(Instant now) const;

 private:
  std::int64_t index_of(Instant at) const { return granule_of(at.since_start.count(), granularity_.count()); }
  std::size_t slot(std::int64_t index) const;

  Duration granularity_;
  double coefficient_;
  std::vector<double> buckets_;
  std::optional<std::int64_t> last_;  ///< index of the newest record
};

/// How many of a revision's pods are scraped: enough for a mean within 5 at 95 % confidence and a variance of 100.
std::int64_t sample_size(std::int64_t pods);

/// The weight of the newest bucket of the `weighted-exponential` average, so that all buckets together weigh 0.9999.
double smoothing_coefficient(double buckets);

}  // namespace capstan::decide::scale::kpa
