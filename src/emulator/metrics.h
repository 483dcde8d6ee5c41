#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/time.h"

namespace capstan::emulator {

/// A histogram as engines export them: how many values lie in each of fixed buckets, and their sum.
class Histogram {
 public:
  /// Ascending upper bounds, which belong to their bucket; they outlive the histogram.
  explicit Histogram(std::span<const std::int64_t> bounds) : bounds_(bounds), counts_(bounds.size() + 1) {}

  void add(std::int64_t value, std::int64_t times = 1) {
    counts_[static_cast<std::size_t>(std::ranges::lower_bound(bounds_, value) - bounds_.begin())] += times;
    count_ += times;
    sum_ += value * times;
  }
  void add(Duration value, std::int64_t times = 1) { add(value.count(), times); }

  std::span<const std::int64_t> bounds() const { return bounds_; }
  std::int64_t in_bucket(std::size_t i) const { return counts_[i]; }  ///< alone; the last holds what is beyond
  std::int64_t count() const { return count_; }
  std::int64_t sum() const { return sum_; }

 private:
  std::span<const std::int64_t> bounds_;
  std::vector<std::int64_t> counts_;
  std::int64_t count_ = 0;
  std::int64_t sum_ = 0;
};

/// Which engine's names and buckets the metrics have.
enum class Dialect : std::uint8_t { vllm, sglang };

/// What an engine counts of its requests, beside the counters of its scheduler. Times in nanoseconds; a request counts
/// in a histogram when its client has heard of it.
struct RequestMetrics {
  explicit RequestMetrics(Dialect dialect);

  Histogram ttft;              ///< from arrival
  Histogram inter_token;       ///< between tokens; within a stretch of equal batches, their mean
  Histogram token_mean;        ///< of a request: between its tokens, mean
  Histogram e2e;               ///< from arrival to the last token
  Histogram queue;             ///< from arrival to the first step that serves it
  Histogram prefill;           ///< from there to the first token
  Histogram decode;            ///< from there to the last
  Histogram inference;         ///< both
  Histogram prompt_tokens;     ///< of ended requests
  Histogram generated_tokens;  ///< of ended requests
  std::int64_t stopped = 0;    ///< requests whose answer came to its own end
  std::int64_t cut_short = 0;  ///< requests that had all tokens they asked for
  std::int64_t aborted = 0;    ///< requests whose client left
};

}  // namespace capstan::emulator
