#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "base/time.h"

namespace capstan::sim {

// Bucket bounds of vLLM's histograms (vllm/v1/metrics/loggers.py), microseconds.

/// Bounds of vllm:time_to_first_token_seconds.
inline constexpr std::array<std::int64_t, 22> kTtftUpperUs = {
    1'000,      5'000,      10'000,     20'000,      40'000,      60'000,       80'000,    100'000,
    250'000,    500'000,    750'000,    1'000'000,   2'500'000,   5'000'000,    7'500'000, 10'000'000,
    20'000'000, 40'000'000, 80'000'000, 160'000'000, 640'000'000, 2'560'000'000};
/// Bounds of vllm:request_queue_time_seconds and the other histograms over whole requests.
inline constexpr std::array<std::int64_t, 21> kRequestUpperUs = {
    300'000,    500'000,     800'000,     1'000'000,   1'500'000,   2'000'000,     2'500'000,
    5'000'000,  10'000'000,  15'000'000,  20'000'000,  30'000'000,  40'000'000,    50'000'000,
    60'000'000, 120'000'000, 240'000'000, 480'000'000, 960'000'000, 1'920'000'000, 7'680'000'000};
/// Bounds of vllm:request_time_per_output_token_seconds.
inline constexpr std::array<std::int64_t, 19> kTokenUpperUs = {
    10'000,  25'000,    50'000,    75'000,    100'000,   150'000,    200'000,    300'000,    400'000,   500'000,
    750'000, 1'000'000, 2'500'000, 5'000'000, 7'500'000, 10'000'000, 20'000'000, 40'000'000, 80'000'000};

/// Durations counted in the buckets of an engine's histogram. A scrape of the engine shows only these counts.
template <const auto& Bounds>
struct LatencyBuckets {
  static constexpr auto& kUpperUs = Bounds;

  /// Number of values by bucket, not cumulative. The last bucket holds the values above the last bound.
  std::array<std::uint32_t, kUpperUs.size() + 1> counts{};

  void add(Duration time) {
    const std::int64_t ns = time.count();
    std::size_t i = 0;
    while (i < kUpperUs.size() && ns > kUpperUs[i] * 1000) ++i;
    ++counts[i];
  }

  /// Returns the percentile as Prometheus' histogram_quantile computes it: interpolated linearly inside its bucket, and
  /// the last bound for values above it.
  std::optional<Duration> percentile(std::int64_t ppm) const {
    std::int64_t total = 0;
    for (const std::uint32_t count : counts) total += count;
    if (total == 0) return std::nullopt;
    // Rank of the percentile, in millionths of an observation.
    const std::int64_t rank = std::max<std::int64_t>(total * ppm, 1);
    std::int64_t below = 0;
    for (std::size_t i = 0; i < kUpperUs.size(); ++i) {
      const std::int64_t in_bucket = std::int64_t{counts[i]} * 1'000'000;
      if (below + in_bucket < rank) {
        below += in_bucket;
        continue;
      }
      const std::int64_t lower = i == 0 ? 0 : kUpperUs[i - 1];
      const auto inside = static_cast<__int128>(kUpperUs[i] - lower) * 1000 * (rank - below) / in_bucket;
      return Duration{lower * 1000 + static_cast<std::int64_t>(inside)};
    }
    return Duration{kUpperUs.back() * 1000};
  }

  /// Returns the share of the values above `bound`, in millionths. Interpolates linearly inside the bucket of `bound`,
  /// as Prometheus' histogram_fraction does. Values above the largest bucket bound count as above `bound`.
  std::optional<std::int64_t> share_above_ppm(Duration bound) const {
    std::int64_t total = 0;
    std::int64_t above = 0;  // number of values above `bound`, in millionths
    std::int64_t lower_ns = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::int64_t in_bucket = std::int64_t{counts[i]} * 1'000'000;
      const std::int64_t upper_ns = i < kUpperUs.size() ? kUpperUs[i] * 1000 : INT64_MAX;
      total += counts[i];
      if (lower_ns >= bound.count() || i == kUpperUs.size()) {
        above += in_bucket;
      } else if (upper_ns > bound.count()) {
        above += static_cast<std::int64_t>(static_cast<__int128>(in_bucket) * (upper_ns - bound.count()) /
                                           (upper_ns - lower_ns));
      }
      lower_ns = upper_ns;
    }
    if (total == 0) return std::nullopt;
    return above / total;
  }

  friend bool operator==(const LatencyBuckets&, const LatencyBuckets&) = default;
};

using TtftBuckets = LatencyBuckets<kTtftUpperUs>;
using QueueTimeBuckets = LatencyBuckets<kRequestUpperUs>;
using TpotBuckets = LatencyBuckets<kTokenUpperUs>;

}  // namespace capstan::sim
