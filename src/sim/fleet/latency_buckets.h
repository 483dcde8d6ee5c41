#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "base/time.h"

namespace capstan::sim {

/// Bounds of vLLM's histograms (vllm/v1/metrics/loggers.py), microseconds: vllm:time_to_first_token_seconds,
/// vllm:request_queue_time_seconds like all that is about a whole request, vllm:request_time_per_output_token_seconds.
inline constexpr std::array<std::int64_t, 22> kTtftUpperUs = {
    1'000,      5'000,      10'000,     20'000,      40'000,      60'000,       80'000,    100'000,
    250'000,    500'000,    750'000,    1'000'000,   2'500'000,   5'000'000,    7'500'000, 10'000'000,
    20'000'000, 40'000'000, 80'000'000, 160'000'000, 640'000'000, 2'560'000'000};
inline constexpr std::array<std::int64_t, 21> kRequestUpperUs = {
    300'000,    500'000,     800'000,     1'000'000,   1'500'000,   2'000'000,     2'500'000,
    5'000'000,  10'000'000,  15'000'000,  20'000'000,  30'000'000,  40'000'000,    50'000'000,
    60'000'000, 120'000'000, 240'000'000, 480'000'000, 960'000'000, 1'920'000'000, 7'680'000'000};

inline constexpr std::array<std::int64_t, 19> kTokenUpperUs = {
    10'000,  25'000,    50'000,    75'000,    100'000,   150'000,    200'000,    300'000,    400'000,   500'000,
    750'000, 1'000'000, 2'500'000, 5'000'000, 7'500'000, 10'000'000, 20'000'000, 40'000'000, 80'000'000};

/// Times in the buckets of an engine's histogram: all that a scrape of it can tell of them.
template <const auto& Bounds>
struct LatencyBuckets {
  static constexpr auto& kUpperUs = Bounds;

  std::array<std::uint32_t, kUpperUs.size() + 1> counts{};  ///< of each bucket alone; the last is what is longer

  void add(Duration time) {
    const std::int64_t ns = time.count();
    std::size_t i = 0;
    while (i < kUpperUs.size() && ns > kUpperUs[i] * 1000) ++i;
    ++counts[i];
  }

  /// As Prometheus reads a quantile: linear inside its bucket; the last bound for what is beyond it.
  std::optional<Duration> percentile(std::int64_t ppm) const {
    std::int64_t total = 0;
    for (const std::uint32_t count : counts) total += count;
    if (total == 0) return std::nullopt;
    const std::int64_t rank = std::max<std::int64_t>(total * ppm, 1);  // millionths of a value
    std::int64_t below = 0;
    for (std::size_t i = 0; i < kUpperUs.size(); ++i) {
      const std::int64_t here = std::int64_t{counts[i]} * 1'000'000;
      if (below + here < rank) {
        below += here;
        continue;
      }
      const std::int64_t lower = i == 0 ? 0 : kUpperUs[i - 1];
      const auto inside = static_cast<__int128>(kUpperUs[i] - lower) * 1000 * (rank - below) / here;
      return Duration{lower * 1000 + static_cast<std::int64_t>(inside)};
    }
    return Duration{kUpperUs.back() * 1000};
  }

  /// Share of the values above the bound, millionths; linear inside the bucket that holds it, as histogram_fraction of
  /// Prometheus has it. What lies beyond the last bound of all is above any.
  std::optional<std::int64_t> share_above_ppm(Duration bound) const {
    std::int64_t total = 0;
    std::int64_t above = 0;  // millionths of a value
    std::int64_t lower_ns = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::int64_t here = std::int64_t{counts[i]} * 1'000'000;
      const std::int64_t upper_ns = i < kUpperUs.size() ? kUpperUs[i] * 1000 : INT64_MAX;
      total += counts[i];
      if (lower_ns >= bound.count() || i == kUpperUs.size()) {
        above += here;
      } else if (upper_ns > bound.count()) {
        above +=
            static_cast<std::int64_t>(static_cast<__int128>(here) * (upper_ns - bound.count()) / (upper_ns - lower_ns));
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
