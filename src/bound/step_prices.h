#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/time.h"
#include "engine/step_model.h"

namespace capstan::bound {

/// Which steps an engine can run at all.
struct StepLimits {
  std::int64_t max_batched_tokens = 0;  ///< prompt and decode tokens of a step
  std::int64_t max_seqs = 0;
  std::int64_t kv_tokens = 0;     ///< that decoding sequences hold together at most
  std::int64_t context_most = 1;  ///< tokens that one of them holds at most
  Duration tpot{};                ///< a request that counts waits no longer for a token, in the mean; 0: no such bound

  /// A prompt is computed in one step, or as far as the token budget goes. With so many prompt tokens or more a step
  /// may be full, decoding sequences that it preempts to make room included, and the last prompt in it only begun.
  std::int64_t full_from() const { return max_batched_tokens > max_seqs ? max_batched_tokens - max_seqs : 1; }
};

/// What a step does beside the prompts that it computes, added up.
struct StepWork {
  std::int64_t decoding = 0;       ///< sequences that decode, one token each
  std::int64_t kv_tokens = 0;      ///< that they read
  std::int64_t prompt_tokens = 0;  ///< computed
  std::int64_t doubled_pairs = 0;  ///< query-key pairs of these, times 2
  std::int64_t prompts = 0;        ///< requests whose prompt, or a chunk of it, is computed
};

/// Prices at which no admissible step does more than it takes:
///
///     what it does, priced  <=  T(step) + patience x decoding x (T(step) - TPOT)
///
/// whatever else decodes in the step. Summed over the steps that serve a request, the last term is at most 0 where the
/// request holds its TPOT. So whoever serves it within its SLO spends at least its price, whatever else is in the batch
/// (docs/decisions/0011).
///
/// A prompt's price is convex in its length, the highest of some lines: several prompts in a step are never dearer than
/// one as long as all of them.
struct StepPrices {
  struct Line {
    double token_ps = 0;
    double less_ps = 0;  ///< >= 0
  };
  static constexpr std::size_t kLines = 4;

  std::array<Line, kLines> prompt_lines{};
  double doubled_pair_ps = 0;
  double prompt_ps = 0;  ///< each request whose prompt is computed
  double decode_token_ps = 0;
  double kv_token_ps = 0;  ///< each token that a decoding sequence reads
  double patience = 0;     ///< what a decoding sequence would pay for a faster step, as a part of the time it saves

  double prompt(std::int64_t tokens) const;    ///< of a prompt that ends in this step, its pairs apart
  double begun_token() const;                  ///< of each token of a prompt that does not
  double besides(const StepWork& work) const;  ///< all but prompts' tokens
  /// What a step of that time may be priced at most.
  double allowed(double time_ps, std::int64_t decoding, Duration tpot) const;
};

/// How much there is to do of each kind: what the prices are chosen to make dear.
struct WorkTotals {
  struct Prompts {
    double tokens = 0;
    double count = 0;
  };
  std::array<Prompts, StepPrices::kLines> prompts{};  ///< in classes of like length
  double decode_tokens = 0;
  double kv_tokens = 0;
};

/// The valid prices at which the totals come to most. A linear program over the corners of the step model: for each
/// number of decoding sequences the time of a step is linear in the KV that they read, and linear in prompt tokens
/// between the points of its table. What the solver finds is then lowered to what every corner allows.
StepPrices best_prices(const engine::StepModel& model, const StepLimits& limits, const WorkTotals& totals);

}  // namespace capstan::bound
