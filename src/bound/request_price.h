#pragma once

#include <algorithm>
#include <cstdint>

#include "bound/step_prices.h"

namespace capstan::bound {

/// A request with all facts that are known after the run.
struct KnownRequest {
  Instant arrival;
  std::int32_t input_tokens = 1;
  std::int32_t output_tokens = 1;
  std::int32_t cached_tokens = 0;  ///< input tokens that an earlier request has computed; less than `input_tokens`
};

/// Lower bound on the replica time that a request takes when it is served within its SLO.
///
/// A step that recomputes the context of a preempted sequence also generates the sequence's next token. If the context
/// is short, this can cost less than decoding the token. Tokens with such a short context are priced as recomputed, so
/// that the bound stays valid.
class RequestPrice {
 public:
  RequestPrice(const StepPrices& prices, Duration tpot);

  double prefill_ps(const KnownRequest& request) const;
  double decode_ps(const KnownRequest& request) const;

 private:
  StepPrices prices_;
  /// Price of an output token from a step that recomputes its context. The tokens of the context are not priced.
  double recomputed_ps_;
  double recomputed_until_;  ///< context length in tokens from which recomputing costs more than decoding
};

}  // namespace capstan::bound
