#include "bound/request_price.h"

#include <cmath>

namespace capstan::bound {
namespace {

/// Returns the sum of the integers from `first` to `last`; 0 if there are none.
double sum_of(double first, double last) { return last < first ? 0 : (last - first + 1) * (first + last) / 2; }

}  // namespace

RequestPrice::RequestPrice(const StepPrices& prices, Duration tpot)
    : prices_(prices),
      recomputed_ps_(prices.prompt_ps - prices.tpot_weight * static_cast<double>(tpot.count()) * 1e3),
      recomputed_until_(HUGE_VAL) {
  const double excess = prices.decode_token_ps - recomputed_ps_;
  for (const StepPrices::Line& line : prices.prompt_lines) {
    // Time per token of context by which decoding is cheaper than recomputing the context.
    const double saved = line.token_ps - prices.kv_token_ps;
    if (saved > 0) recomputed_until_ = std::min(recomputed_until_, std::ceil((excess + line.discount_ps) / saved));
  }
}

double RequestPrice::prefill_ps(const KnownRequest& request) const {
  const std::int64_t tokens = request.input_tokens - request.cached_tokens;
  const std::int64_t pairs = engine::doubled_pairs({tokens, request.cached_tokens});
  return prices_.prompt(tokens) +
         prices_.other_work(
             {.decoding = 0, .kv_tokens = 0, .prompt_tokens = tokens, .doubled_pairs = pairs, .prompts = 1});
}

double RequestPrice::decode_ps(const KnownRequest& request) const {
  // The first decode step reads the KV of the prompt and of the first output token.
  const double first = static_cast<double>(request.input_tokens) + 1;
  const double last = static_cast<double>(request.input_tokens) + request.output_tokens - 1;
  if (last < first) return 0;
  const double decoded_from = std::clamp(recomputed_until_, first, last + 1);
  const double recomputed = (decoded_from - first) * recomputed_ps_;
  const double decoded =
      (last - decoded_from + 1) * prices_.decode_token_ps + prices_.kv_token_ps * sum_of(decoded_from, last);
  return std::max(recomputed + decoded, 0.0);
}

}  // namespace capstan::bound
