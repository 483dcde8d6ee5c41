#include "bound/step_corners.h"

#include <algorithm>

#include "base/assert.h"

namespace capstan::bound {
namespace {

constexpr auto& kTablePoints = engine::StepCoefficients::kGrid;

class Corners {
 public:
  Corners(const engine::StepModel& model, const StepLimits& limits) : model_(model), limits_(limits) {
    decoding_counts_.assign(kTablePoints.begin(), kTablePoints.end());
    decoding_counts_.push_back(limits.max_seqs);
  }

  std::vector<StepCorner> all() {
    for (std::int64_t decoding = 0; decoding <= limits_.max_seqs; ++decoding) of_batch(decoding);
    return std::move(corners_);
  }

 private:
  void of_batch(std::int64_t decoding) {
    kind_ = 0;
    if (decoding > 0) add(decoding, 0, static_cast<double>(model_.decode_step_ps(decoding, decoding)));
    kind_ += 2;
    prompt(decoding, 1);
    prompt(decoding, limits_.max_batched_tokens - decoding);
    prompt(decoding, limits_.min_full_prompt_tokens());
    for (const std::int64_t point : kTablePoints) prompt(decoding, point - decoding);
    // The step may decode more than `decoding` sequences. If it decodes `larger`, it reaches a point of the table with
    // fewer prompt tokens.
    for (const std::int64_t larger : decoding_counts_) {
      const bool is_larger = larger > decoding && larger <= limits_.max_seqs;
      prompt(decoding, is_larger ? limits_.max_batched_tokens - larger : 0);
      for (const std::int64_t point : kTablePoints) prompt(decoding, is_larger ? point - larger : 0);
    }
    CAPSTAN_ASSERT(kind_ <= kCornerKinds);
  }

  void prompt(std::int64_t decoding, std::int64_t tokens) {
    if (tokens >= 1 && decoding + tokens <= limits_.max_batched_tokens) {
      add(decoding, tokens, least_time(decoding, tokens));
    }
    kind_ += 2;
  }

  /// Returns the least time of a step that computes `tokens` prompt tokens and decodes `decoding` or more sequences.
  /// Each sequence reads one KV token.
  double least_time(std::int64_t decoding, std::int64_t tokens) const {
    double least = static_cast<double>(model_.step_ps(decoding, decoding, tokens, 0, 1));
    const auto with_batch = [&](std::int64_t larger) {
      if (larger <= decoding || larger > limits_.max_seqs || larger + tokens > limits_.max_batched_tokens) return;
      least = std::min(least, static_cast<double>(model_.step_ps(larger, larger, tokens, 0, 1)));
    };
    with_batch(decoding + 1);  // the time is not linear between 0 and 1 sequences
    with_batch(limits_.max_batched_tokens - tokens);
    for (const std::int64_t larger : decoding_counts_) with_batch(larger);
    for (const std::int64_t point : kTablePoints) with_batch(point - tokens);
    return least;
  }

  /// Adds corners with the least and the most KV that these sequences can hold.
  void add(std::int64_t decoding, std::int64_t tokens, double time_ps) {
    const std::int64_t kv_most = std::max(decoding, std::min(limits_.kv_tokens, decoding * limits_.max_context_tokens));
    const std::int64_t prompts = tokens > 0 ? 1 : 0;
    corners_.push_back({{decoding, decoding, tokens, 0, prompts}, time_ps, kind_});
    if (kv_most == decoding) return;
    const double read_ps =
        static_cast<double>(model_.coefficients().decode_per_kv_token_ps) * static_cast<double>(kv_most - decoding);
    corners_.push_back({{decoding, kv_most, tokens, 0, prompts}, time_ps + read_ps, kind_ + 1});
  }

  const engine::StepModel& model_;
  const StepLimits& limits_;
  std::vector<std::int64_t> decoding_counts_;
  std::size_t kind_ = 0;
  std::vector<StepCorner> corners_;
};

}  // namespace

std::vector<StepCorner> step_corners(const engine::StepModel& model, const StepLimits& limits) {
  return Corners(model, limits).all();
}

}  // namespace capstan::bound
