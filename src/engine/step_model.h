#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/time.h"

namespace capstan::engine {

/// Integer picoseconds: the unit in which an engine's steps are added up. 64 bits hold 106 days, which is enough for a
/// step and not for a run: times since the start of a run are `WidePicoseconds`.
using Picoseconds = std::int64_t;
using WidePicoseconds = __int128;

inline constexpr Picoseconds kPicosecondsPerNanosecond = 1000;
inline constexpr std::int64_t kKvBlockTokens = 16;

/// Returns the earliest Instant not before `ps` >= 0 picoseconds after the start of the run.
constexpr Instant instant_not_before(WidePicoseconds ps) {
  return {Duration{static_cast<std::int64_t>((ps + kPicosecondsPerNanosecond - 1) / kPicosecondsPerNanosecond)}};
}
/// Returns the time since the start of the run.
constexpr WidePicoseconds picoseconds(Instant at) {
  return WidePicoseconds{at.since_start.count()} * kPicosecondsPerNanosecond;
}

/// Step-time coefficients of one model on one GPU kind, parallelism and weight type, quantised when they are loaded, so
/// that every sum of steps is exact. Source and form: data/README.md, "Engines".
struct StepCoefficients {
  static constexpr std::array<std::int64_t, 12> kGrid = {1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192};

  std::array<Picoseconds, 12> linear_ps{};  ///< F[n]: matrix products and all-reduce of n tokens, n = kGrid
  Picoseconds decode_fixed_ps = 0;          ///< a0
  Picoseconds decode_per_request_ps = 0;    ///< aB
  Picoseconds decode_per_kv_token_ps = 0;   ///< aK
  Picoseconds prefill_fixed_ps = 0;         ///< p0
  std::int64_t prefill_per_pair_fs = 0;     ///< pQ, femtoseconds for one query-key pair
  std::int64_t kappa_milli = 1250;          ///< what prefill adds to a step, times this / 1000
  Picoseconds per_request_ps = 40'000'000;  ///< t_req: scheduling and sampling of each request in the step
  Picoseconds per_step_ps = 0;              ///< t0

  friend bool operator==(const StepCoefficients&, const StepCoefficients&) = default;
};

/// F[n], linear between the points of the grid and beyond the last with the last slope, rounded down. n >= 0.
Picoseconds linear_ps(const StepCoefficients& coefficients, std::int64_t n);

/// A piece of a prompt computed in one step.
struct PrefillChunk {
  std::int64_t tokens = 0;    ///< computed in this step
  std::int64_t computed = 0;  ///< tokens of the same request whose KV was there before
};

/// How long one step of continuous batching takes. Steps without prefill are an exact affine function of the KV tokens
/// read, so k of them in a row, each reading one more token a request, are an exact arithmetic series.
class StepModel {
 public:
  explicit StepModel(const StepCoefficients& coefficients);

  const StepCoefficients& coefficients() const { return coefficients_; }

  /// F[n] of these coefficients, read from a table where n is small.
  Picoseconds linear_ps(std::int64_t n) const {
    return n < static_cast<std::int64_t>(dense_.size()) ? dense_[static_cast<std::size_t>(n)]
                                                        : engine::linear_ps(coefficients_, n);
  }

  /// The part of a decode-only step of `requests` >= 1 sequences that does not depend on their contexts.
  Picoseconds decode_base_ps(std::int64_t requests) const {
    return requests < static_cast<std::int64_t>(decode_base_.size()) ? decode_base_[static_cast<std::size_t>(requests)]
                                                                     : computed_decode_base_ps(requests);
  }

  /// A decode-only step: `requests` sequences that read `kv_tokens` in all, the token being decoded included.
  Picoseconds decode_step_ps(std::int64_t requests, std::int64_t kv_tokens) const {
    return decode_base_ps(requests) + coefficients_.decode_per_kv_token_ps * kv_tokens;
  }

  /// `steps` decode-only steps in a row, the first of which reads `kv_tokens`, each later one `requests` tokens more.
  Picoseconds decode_steps_ps(std::int64_t requests, std::int64_t kv_tokens, std::int64_t steps) const {
    return steps * decode_step_ps(requests, kv_tokens) +
           coefficients_.decode_per_kv_token_ps * (requests * (steps * (steps - 1) / 2));
  }

  /// The most of such steps that end within `elapsed` >= 0.
  std::int64_t decode_steps_within(std::int64_t requests, std::int64_t kv_tokens, Picoseconds elapsed) const;

  /// Any step: `requests` decoding sequences and prefill chunks. At least one of both.
  Picoseconds step_ps(std::int64_t requests, std::int64_t kv_tokens, std::span<const PrefillChunk> chunks) const;

  /// The same from sums: prompt tokens, their doubled query-key pairs Σ p(2c + p), and the number of chunks.
  Picoseconds step_ps(std::int64_t requests, std::int64_t kv_tokens, std::int64_t prefill_tokens,
                      std::int64_t doubled_pairs, std::int64_t chunks) const;

  /// A prompt of `tokens`, of which `computed` were there before, on a replica that does nothing else and takes up to
  /// `most_at_once` >= 1 a step.
  Picoseconds prefill_alone_ps(std::int64_t tokens, std::int64_t computed, std::int64_t most_at_once) const;

 private:
  Picoseconds computed_decode_base_ps(std::int64_t requests) const;

  StepCoefficients coefficients_;
  std::vector<Picoseconds> dense_;        ///< F[n] of small n
  std::vector<Picoseconds> decode_base_;  ///< by number of sequences
};

constexpr std::int64_t doubled_pairs(const PrefillChunk& chunk) {
  return chunk.tokens * (2 * chunk.computed + chunk.tokens);
}

}  // namespace capstan::engine
