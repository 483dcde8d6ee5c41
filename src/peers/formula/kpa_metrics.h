#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"

/// The windows in which Knative's autoscaler keeps its metrics. Source: knative/serving pkg/autoscaler/aggregation and
/// metrics.
namespace capstan::peers::kpa {

/// Returns the index of the granule. Rounds down also for times before the origin, so that all granules have equal
/// length. Knative has no such times.
constexpr std::int64_t granule_of(std::int64_t at, std::int64_t granularity) {
  return at / granularity - (at % granularity < 0 ? 1 : 0);
}

/// The highest value among the last `length` indices, including the newest.
class MaxWindow {
 public:
  explicit MaxWindow(std::int64_t length) : length_(length) {}
  /// @param index not below that of an earlier record
  void record(std::int64_t index, ReplicaCount value);
  /// Returns the maximum of the window that ends with the last record; 0 before the first.
  ReplicaCount max() const { return falling_.empty() ? 0 : falling_.front().value; }
  friend bool operator==(const MaxWindow&, const MaxWindow&) = default;

 private:
  struct Entry {
    std::int64_t index;
    ReplicaCount value;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  std::int64_t length_;
  std::vector<Entry> falling_;  ///< entries of the window with strictly decreasing values
};

/// The highest value in a window of time. The values within one granule collapse to their maximum.
class MaxTimeWindow {
 public:
  /// @param granularity at least one second, in whole seconds
  MaxTimeWindow(Duration window, Duration granularity);
  void record(Instant now, ReplicaCount value);
  ReplicaCount max() const { return window_.max(); }
  friend bool operator==(const MaxTimeWindow&, const MaxTimeWindow&) = default;

 private:
  std::int64_t granule_s_;
  MaxWindow window_;
};

/// The mean over the granules of a window from the first to the last granule that has a record. Granules without a
/// record between them count as 0. After a gap of a whole window, the next record counts as the first.
class AverageWindow {
 public:
  AverageWindow(Duration window, Duration granularity);
  /// Adds a value to its granule. A value that is a whole window older than the newest is dropped.
  void record(Instant now, double value);
  /// Returns the mean, truncated to six decimals as in Knative. For a moment before the last record, returns the mean
  /// of the whole window.
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
  struct WrittenRange {
    std::int64_t first, last;
  };
  std::optional<WrittenRange> written_;  ///< first and last index with a value
};

/// The `weighted-exponential` mean over the granules of a window. The newest granule has the weight
/// `smoothing_coefficient` = c, the next one c * (1 - c), the next one c * (1 - c)^2, and so on. Granules without a
/// record count as 0.
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

/// Returns how many of a revision's pods are scraped: so many that, with 95 % confidence, their mean differs by at most
/// 5 from the mean of all pods, if the variance between pods is 100.
std::int64_t sample_size(std::int64_t pods);

/// Returns the weight of the newest bucket of the `weighted-exponential` mean, such that all buckets weigh 0.9999
/// together; at least 0.2.
double smoothing_coefficient(double buckets);

}  // namespace capstan::peers::kpa
