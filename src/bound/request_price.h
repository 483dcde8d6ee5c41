#pragma once

#include <algorithm>
#include <cstdint>

#include "bound/step_prices.h"

namespace capstan::bound {

/// A request as somebody knows it who knows the future.
struct KnownRequest {
  Instant arrival;
  std::int32_t input_tokens = 1;
  std::int32_t output_tokens = 1;
  std::int32_t cached_tokens = 0;  ///< of the input, that an earlier request has computed: less than `input_tokens`
};

/// Replica time that whoever serves a request within its SLO spends on it at least.
///
/// A sequence that is preempted gets its next token from the step that computes its context again. With a short context
/// that can cost less than a decoded token is priced; tokens so early in an answer are not priced as decoded.
class RequestPrice {
 public:
  RequestPrice(const StepPrices& prices, Duration tpot);

  double prefill_ps(const KnownRequest& request) const;
  double decode_ps(const KnownRequest& request) const;

 private:
  StepPrices prices_;
  double recomputed_ps_;  ///< of a token that comes from computing the context again, without the context
  double dear_from_;      ///< tokens of context from which on that costs more than to decode it
};

}  // namespace capstan::bound
