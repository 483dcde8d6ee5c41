#include "sim/fleet/latency_histogram.h"

#include <algorithm>

namespace capstan::sim {

void LatencyHistogram::merge(const LatencyHistogram& other) {
  for (std::size_t i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  sum_us_ += other.sum_us_;
}

void LatencyHistogram::clear() {
  std::ranges::fill(counts_, 0);
  count_ = 0;
  sum_us_ = 0;
}

std::int64_t LatencyHistogram::percentile_us(std::int64_t ppm) const {
  if (count_ == 0) return 0;
  const auto rank = static_cast<std::uint64_t>(std::max<std::int64_t>(
      1, static_cast<std::int64_t>((static_cast<__int128>(count_) * ppm + 999'999) / 1'000'000)));
  std::uint64_t below = 0;
  std::size_t i = 0;
  while (i + 1 < kBuckets && (below += counts_[i]) < rank) ++i;
  if (i < 256) return static_cast<std::int64_t>(i);
  const std::size_t shift = i / 128 - 1;
  const std::size_t lowest = (i - shift * 128) << shift;
  return static_cast<std::int64_t>(lowest + ((std::size_t{1} << shift) >> 1));
}

}  // namespace capstan::sim
