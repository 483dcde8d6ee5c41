#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/time.h"
#include "engine/step_model.h"

namespace capstan::bound {

/// Limits on the steps of an engine.
struct StepLimits {
  std::int64_t max_batched_tokens = 0;  ///< prompt and decode tokens of a step
  std::int64_t max_seqs = 0;
  std::int64_t kv_tokens = 0;     ///< held together by decoding sequences, at most
  std::int64_t context_most = 1;  ///< tokens held by one of them, at most
  Duration tpot{};                ///< mean bound per token of a request within its SLO; 0: none

  /// Returns the prompt tokens from which a step may be full. A prompt is computed in one step or up to the token
  /// budget. In a full step, sequences may be preempted to make room, and the last prompt may only be begun.
  std::int64_t full_from() const { return max_batched_tokens > max_seqs ? max_batched_tokens - max_seqs : 1; }
};

/// The work of a step, summed; the tokens of prompts are priced separately.
struct StepWork {
  std::int64_t decoding = 0;       ///< decoding sequences, one token each
  std::int64_t kv_tokens = 0;      ///< KV tokens read by them
  std::int64_t prompt_tokens = 0;  ///< computed prompt tokens
  std::int64_t doubled_pairs = 0;  ///< query-key pairs of these tokens, times 2
  std::int64_t prompts = 0;        ///< requests whose prompt, or a chunk of it, is computed
};

/// Prices at which no admissible step does more priced work than it takes time:
///
///     price of its work  <=  T(step) + patience x decoding x (T(step) - TPOT)
///
/// whatever else decodes in the step. Summed over the steps that serve a request, the last term is at most 0 if the
/// request holds its TPOT. Serving it within its SLO therefore takes at least its price, for any batch
/// (docs/decisions/0011).
///
/// A prompt's price is convex in its length, the maximum of some lines: several prompts in a step never cost more than
/// one prompt of their total length.
struct StepPrices {
  struct Line {
    double token_ps = 0;
    double less_ps = 0;  ///< >= 0
  };
  static constexpr std::size_t kLines = 4;

  std::array<Line, kLines> prompt_lines{};
  double doubled_pair_ps = 0;
  double prompt_ps = 0;  ///< per request whose prompt is computed
  double decode_token_ps = 0;
  double kv_token_ps = 0;  ///< per token that a decoding sequence reads
  double patience = 0;     ///< price of a decoding sequence for a faster step, as a share of the time it saves

  double prompt(std::int64_t tokens) const;       ///< of a prompt that ends in this step, without its pairs
  double begun_token() const;                     ///< per token of a prompt that does not end in this step
  double other_work(const StepWork& work) const;  ///< price of everything except prompts' tokens
  /// Returns the highest price allowed for a step of that time.
  double allowed(double time_ps, std::int64_t decoding, Duration tpot) const;
};

/// Amounts of each kind of work. The prices are chosen to maximize their total.
struct WorkTotals {
  struct Prompts {
    double tokens = 0;
    double count = 0;
  };
  std::array<Prompts, StepPrices::kLines> prompts{};  ///< in classes of similar length
  double decode_tokens = 0;
  double kv_tokens = 0;
};

/// Returns the valid prices with the highest total. Solves a linear program over the corners of the step model: for
/// each number of decoding sequences the time of a step is linear in the KV they read, and linear in prompt tokens
/// between the points of its table. The solution is then lowered to what every corner allows.
StepPrices best_prices(const engine::StepModel& model, const StepLimits& limits, const WorkTotals& totals);

}  // namespace capstan::bound
