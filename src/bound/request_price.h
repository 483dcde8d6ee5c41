#pragma once

#include <algorithm>
#include <cstdint>

#include "bound/step_prices.h"

namespace capstan::bound {

/// A request with everything that is known after the run.
struct KnownRequest {
  Instant arrival;
  std::int32_t input_tokens = 1;
  std::int32_t output_tokens = 1;
  std::int32_t cached_tokens = 0;  ///< input tokens that an earlier request has computed: fewer than `input_tokens`
};

/// Lower bound on the replica time that a request takes when it is served within its SLO.
///
/// A preempted sequence gets its next token from the step that recomputes its context. With a short context that can
/// cost less than the price of a decoded token, so tokens that early in an answer are priced as recomputed.
class RequestPrice {
 public:
  RequestPrice(const StepPrices& prices, Duration tpot);

  double prefill_ps(const KnownRequest& request) const;
  double decode_ps(const KnownRequest& request) const;

 private:
  StepPrices prices_;
  double recomputed_ps_;     ///< of a token that results from recomputing the context, without the context itself
  double recomputed_until_;  ///< context tokens from which recomputing costs more than decoding
};

}  // namespace capstan::bound
