#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/time.h"

namespace capstan::emulator {

/// A histogram as engines export it: the number of values in each of a set of fixed buckets, and their sum.
class Histogram {
 public:
  /// `bounds` are the upper bounds of the buckets, ascending and inclusive; they must outlive the histogram.
  explicit Histogram(std::span<const std::int64_t> bounds) : bounds_(bounds), counts_(bounds.size() + 1) {}

  void add(std::int64_t value, std::int64_t times = 1) {
    counts_[static_cast<std::size_t>(std::ranges::lower_bound(bounds_, value) - bounds_.begin())] += times;
    count_ += times;
    sum_ += value * times;
  }
  void add(Duration value, std::int64_t times = 1) { add(value.count(), times); }

  std::span<const std::int64_t> bounds() const { return bounds_; }
  std::int64_t in_bucket(std::size_t i) const { return counts_[i]; }  ///< count of one bucket; the last is unbounded
  std::int64_t count() const { return count_; }
  std::int64_t sum() const { return sum_; }

 private:
  std::span<const std::int64_t> bounds_;
  std::vector<std::int64_t> counts_;
  std::int64_t count_ = 0;
  std::int64_t sum_ = 0;
};

/// The engine whose names and buckets the metrics have.
enum class Dialect : std::uint8_t { vllm, sglang };

/// The metrics that an engine exports about its requests, in addition to its scheduler's counters. Times are in
/// nanoseconds. `inter_token` is counted by engine step; the other times are counted when the client has received the
/// token or the end.
struct RequestMetrics {
  explicit RequestMetrics(Dialect dialect);

  Histogram ttft;                  ///< time from arrival to the first token
  Histogram inter_token;           ///< time between tokens; for consecutive steps of one batch, their mean
  Histogram token_mean;            ///< mean time between the tokens of a request
  Histogram e2e;                   ///< time from arrival to the last token
  Histogram queue;                 ///< time from arrival to the first step that serves the request
  Histogram prefill;               ///< time from the first step to the first token
  Histogram decode;                ///< time from the first token to the last
  Histogram inference;             ///< time from the first step to the last token
  Histogram prompt_tokens;         ///< prompt tokens of finished requests
  Histogram generated_tokens;      ///< output tokens of finished requests
  std::int64_t stopped = 0;        ///< requests whose answer ended by itself (finished_reason="stop")
  std::int64_t reached_limit = 0;  ///< requests that reached their token limit (finished_reason="length")
  std::int64_t aborted = 0;        ///< requests whose client disconnected (finished_reason="abort")
};

}  // namespace capstan::emulator
