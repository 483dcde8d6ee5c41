#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "base/time.h"

namespace capstan::sim {

/// First-token times in the buckets of vLLM's histogram vllm:time_to_first_token_seconds (vllm/v1/metrics/loggers.py):
/// all that a scrape of an engine can tell of them.
struct TtftBuckets {
  static constexpr std::array<std::int64_t, 22> kUpperUs = {
      1'000,      5'000,      10'000,     20'000,      40'000,      60'000,       80'000,    100'000,
      250'000,    500'000,    750'000,    1'000'000,   2'500'000,   5'000'000,    7'500'000, 10'000'000,
      20'000'000, 40'000'000, 80'000'000, 160'000'000, 640'000'000, 2'560'000'000};

  std::array<std::uint32_t, kUpperUs.size() + 1> counts{};  ///< of each bucket alone; the last is what is longer

  void add(Duration ttft) {
    const std::int64_t ns = ttft.count();
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

  friend bool operator==(const TtftBuckets&, const TtftBuckets&) = default;
};

}  // namespace capstan::sim
