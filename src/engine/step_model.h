#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/time.h"

namespace capstan::engine {

/// Integer picoseconds, the unit in which the times of an engine's steps are added. 64 bits hold 106 days, which is
/// enough for a step but not for a run. Times since the start of a run are therefore `WidePicoseconds`.
using Picoseconds = std::int64_t;
using WidePicoseconds = __int128;

inline constexpr Picoseconds kPicosecondsPerNanosecond = 1000;
inline constexpr std::int64_t kKvBlockTokens = 16;

/// Returns the earliest Instant not before `ps` >= 0 picoseconds after the start of the run.
constexpr Instant instant_not_before(WidePicoseconds ps) {
  return {Duration{static_cast<std::int64_t>((ps + kPicosecondsPerNanosecond - 1) / kPicosecondsPerNanosecond)}};
}
/// Returns the shortest Duration that is not below `ps`, where 0 <= `ps` < 2^63 - 1000. It divides 64 bits, which is
/// many times as fast as 128.
constexpr Duration duration_not_below(Picoseconds ps) {
  return Duration{(ps + kPicosecondsPerNanosecond - 1) / kPicosecondsPerNanosecond};
}
/// Returns the time since the start of the run in picoseconds.
constexpr WidePicoseconds picoseconds(Instant at) {
  return WidePicoseconds{at.since_start.count()} * kPicosecondsPerNanosecond;
}

/// Step-time coefficients of one model on one GPU kind, parallelism and weight type. They are integers, so that every
/// sum of steps is exact. For the source, the formula and its symbols see data/README.md, "Engines".
struct StepCoefficients {
  static constexpr std::array<std::int64_t, 12> kGrid = {1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192};

  std::array<Picoseconds, 12> linear_ps{};  ///< F[n]: matrix products and all-reduce of n tokens, n = kGrid
  Picoseconds decode_fixed_ps = 0;          ///< symbol a0
  Picoseconds decode_per_request_ps = 0;    ///< symbol aB
  Picoseconds decode_per_kv_token_ps = 0;   ///< symbol aK
  Picoseconds prefill_fixed_ps = 0;         ///< symbol p0
  std::int64_t prefill_per_pair_fs = 0;     ///< pQ, femtoseconds for one query-key pair
  std::int64_t kappa_milli = 1250;          ///< factor of the time that prefill adds to a step, times 1000
  Picoseconds per_request_ps = 40'000'000;  ///< t_req: scheduling and sampling of each request in the step
  Picoseconds per_step_ps = 0;              ///< symbol t0

  friend bool operator==(const StepCoefficients&, const StepCoefficients&) = default;
};

/// Returns F[n], rounded down: linear between the grid points, and with the last slope after the last one. n >= 0.
Picoseconds linear_ps(const StepCoefficients& coefficients, std::int64_t n);

/// The part of a prompt that is computed in one step.
struct PrefillChunk {
  std::int64_t tokens = 0;    ///< tokens computed in this step
  std::int64_t computed = 0;  ///< tokens of the same request whose KV was computed before
};

/// Computes how long a step of continuous batching takes. The time of a step without prefill is an exact affine
/// function of the KV tokens read. In consecutive steps each request reads one more token, so their times are an exact
/// arithmetic series.
class StepModel {
 public:
  explicit StepModel(const StepCoefficients& coefficients);

  const StepCoefficients& coefficients() const { return coefficients_; }

  /// Returns F[n], the time of the matrix products and the all-reduce of n tokens. Small n are looked up in a table.
  Picoseconds linear_ps(std::int64_t n) const {
    return n < static_cast<std::int64_t>(dense_.size()) ? dense_[static_cast<std::size_t>(n)]
                                                        : engine::linear_ps(coefficients_, n);
  }

  /// Returns the part of the time of a decode-only step that does not depend on the contexts of its `requests` >= 1
  /// sequences.
  Picoseconds decode_base_ps(std::int64_t requests) const {
    return requests < static_cast<std::int64_t>(decode_base_.size()) ? decode_base_[static_cast<std::size_t>(requests)]
                                                                     : computed_decode_base_ps(requests);
  }

  /// Returns the time of a decode-only step of `requests` sequences that read `kv_tokens` in total, including the
  /// tokens being decoded.
  Picoseconds decode_step_ps(std::int64_t requests, std::int64_t kv_tokens) const {
    return decode_base_ps(requests) + coefficients_.decode_per_kv_token_ps * kv_tokens;
  }

  /// Returns the time of `steps` consecutive decode-only steps. The first reads `kv_tokens`, each later one `requests`
  /// tokens more.
  Picoseconds decode_steps_ps(std::int64_t requests, std::int64_t kv_tokens, std::int64_t steps) const {
    return steps * decode_step_ps(requests, kv_tokens) +
           coefficients_.decode_per_kv_token_ps * (requests * (steps * (steps - 1) / 2));
  }

  /// Returns the largest number of consecutive decode-only steps that end within `elapsed` >= 0.
  std::int64_t decode_steps_within(std::int64_t requests, std::int64_t kv_tokens, Picoseconds elapsed) const;

  /// Returns the time of a step with `requests` decoding sequences and prefill chunks. The step must have at least one
  /// sequence or chunk.
  Picoseconds step_ps(std::int64_t requests, std::int64_t kv_tokens, std::span<const PrefillChunk> chunks) const;

  /// Returns the time of the same step from sums: prompt tokens, their doubled query-key pairs Σ p(2c + p), and the
  /// number of chunks.
  Picoseconds step_ps(std::int64_t requests, std::int64_t kv_tokens, std::int64_t prefill_tokens,
                      std::int64_t doubled_pairs, std::int64_t chunks) const;

  /// Returns the time to compute a prompt of `tokens`, of which `computed` were computed before, on a replica without
  /// other requests that computes up to `max_chunk` >= 1 tokens per step.
  Picoseconds prefill_alone_ps(std::int64_t tokens, std::int64_t computed, std::int64_t max_chunk) const;

 private:
  Picoseconds computed_decode_base_ps(std::int64_t requests) const;

  StepCoefficients coefficients_;
  std::vector<Picoseconds> dense_;        ///< linear_ps(n) for small n
  std::vector<Picoseconds> decode_base_;  ///< decode_base_ps() by number of sequences
};

constexpr std::int64_t doubled_pairs(const PrefillChunk& chunk) {
  return chunk.tokens * (2 * chunk.computed + chunk.tokens);
}

}  // namespace capstan::engine
