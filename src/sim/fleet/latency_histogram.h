#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "base/time.h"

namespace capstan::sim {

/// Counts durations in buckets whose width is at most 1/128 of their value (HdrHistogram's layout), so that a
/// percentile is within 0.4 % of the exact one. Uses only integers, so that equal runs give equal bytes. The resolution
/// is 1 us; values below 256 us are exact; values above 12 days count as 12 days.
class LatencyHistogram {
 public:
  LatencyHistogram() : counts_(kBuckets) {}

  void add(Duration value) {
    const std::int64_t us = microseconds(value);
    add_to_bucket(bucket(us), us);
  }
  /// Adds a value to two histograms, and computes its bucket once.
  static void add_to_both(LatencyHistogram& first, LatencyHistogram& second, Duration value) {
    const std::int64_t us = microseconds(value);
    const std::size_t index = bucket(us);
    first.add_to_bucket(index, us);
    second.add_to_bucket(index, us);
  }
  void merge(const LatencyHistogram& other);  ///< adds the values of another histogram
  void clear();

  std::int64_t count() const { return count_; }
  std::int64_t mean_us() const { return count_ == 0 ? 0 : static_cast<std::int64_t>(sum_us_ / count_); }

  /// Returns a percentile: the middle of the first bucket up to which at least `ppm` millionths of the values lie.
  /// Returns 0 without values.
  std::int64_t percentile_us(std::int64_t ppm) const;

 private:
  static constexpr int kMaxBits = 40;
  static constexpr std::size_t kBuckets = (kMaxBits - 8) * 128 + 256;

  static std::int64_t microseconds(Duration value) { return value.count() <= 0 ? 0 : value.count() / 1000; }
  void add_to_bucket(std::size_t index, std::int64_t us) {
    ++counts_[index];
    ++count_;
    sum_us_ += us;
  }

  static std::size_t bucket(std::int64_t us) {
    constexpr std::int64_t kMax = (std::int64_t{1} << kMaxBits) - 1;
    const auto value = static_cast<std::uint64_t>(us < kMax ? us : kMax);
    const int shift = value < 256 ? 0 : std::bit_width(value) - 8;
    return static_cast<std::size_t>(shift) * 128 + (value >> shift);
  }

  std::vector<std::uint64_t> counts_;
  std::int64_t count_ = 0;
  __int128 sum_us_ = 0;
};

}  // namespace capstan::sim
