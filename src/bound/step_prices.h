#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/time.h"
#include "engine/step_model.h"

namespace capstan::bound {

/// Limits on the steps of an engine.
struct StepLimits {
  std::int64_t max_batched_tokens = 0;  ///< token budget of a step, for prompt and decode tokens
  std::int64_t max_seqs = 0;
  std::int64_t kv_tokens = 0;           ///< most KV tokens of all decoding sequences together
  std::int64_t max_context_tokens = 1;  ///< most KV tokens of one sequence
  Duration tpot{};                      ///< bound on the mean time per output token of a request; 0: none

  /// Returns the smallest number of prompt tokens with which a step can use its whole token budget: decoding sequences
  /// use at most `max_seqs` tokens of the budget. A step with fewer prompt tokens cannot use its whole budget, so it
  /// finishes its last prompt and preempts no sequence.
  std::int64_t min_full_prompt_tokens() const {
    return max_batched_tokens > max_seqs ? max_batched_tokens - max_seqs : 1;
  }
};

/// Work of a step, summed over its sequences and prompts. `StepPrices::other_work` leaves out `prompt_tokens`, because
/// their price depends on the length of each prompt.
struct StepWork {
  std::int64_t decoding = 0;       ///< decoding sequences, one token each
  std::int64_t kv_tokens = 0;      ///< KV tokens that the decoding sequences read
  std::int64_t prompt_tokens = 0;  ///< computed prompt tokens
  std::int64_t doubled_pairs = 0;  ///< query-key pairs of the computed prompt tokens, times 2
  std::int64_t prompts = 0;        ///< requests with a prompt that is computed or begun
};

/// Prices of the kinds of work, in replica time. For every step that `StepLimits` allow and that takes the time T, they
/// satisfy
///
///     price of the counted work  <=  T + tpot_weight x decoding x (T - TPOT)
///
/// `decoding` is the number of counted sequences. The step may also serve requests that are not counted. Summed over
/// the steps that decode a request, T - TPOT is at most 0 if the request meets its TPOT. Serving requests within their
/// SLO therefore takes at least the sum of their prices, for any batch (docs/decisions/0011).
///
/// The price of a prompt is the maximum of some lines and therefore convex in the prompt's length. Several prompts in
/// one step never cost more than one prompt of their total length.
struct StepPrices {
  struct Line {
    double token_ps = 0;
    double discount_ps = 0;  ///< subtracted once per prompt; not negative
  };
  static constexpr std::size_t kLines = 4;

  std::array<Line, kLines> prompt_lines{};
  double doubled_pair_ps = 0;
  double prompt_ps = 0;  ///< price per request whose prompt is computed
  double decode_token_ps = 0;
  double kv_token_ps = 0;  ///< price per KV token that a decoding sequence reads
  double tpot_weight = 0;  ///< weight of the TPOT term above; 0: the prices do not use the TPOT

  double prompt(std::int64_t tokens) const;  ///< price of a prompt that ends in this step, without its query-key pairs
  double begun_token() const;                ///< price per token of a prompt that does not end in this step
  double other_work(const StepWork& work) const;  ///< price of everything except prompts' tokens
  /// Returns the right side of the inequality above: the highest price of a step that takes `time_ps`.
  double allowed(double time_ps, std::int64_t decoding, Duration tpot) const;
};

/// Total amount of each kind of work. `best_prices` maximizes the price of these amounts.
struct WorkTotals {
  /// Prompts of one class.
  struct Prompts {
    double tokens = 0;
    double count = 0;
  };
  std::array<Prompts, StepPrices::kLines> prompts{};  ///< prompts by class of length
  double decode_tokens = 0;
  double kv_tokens = 0;
};

/// Returns valid prices that give `totals` a high price. They are the solution of a linear program over the corners of
/// the step model (`step_corners`), scaled down until every corner allows them.
StepPrices best_prices(const engine::StepModel& model, const StepLimits& limits, const WorkTotals& totals);

}  // namespace capstan::bound
