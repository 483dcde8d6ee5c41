#include "engine/work.h"

#include <algorithm>

#include "base/assert.h"

namespace capstan::engine {
namespace {

/// Picoseconds subtracted from each price per token. Without this, prices could exceed the time of a step, because F[n]
/// (`StepModel::linear_ps`) is rounded down between grid points and kappa multiplies the error.
constexpr Picoseconds kRounding = 3;

}  // namespace

RequestWork::RequestWork(const StepModel& model, std::int64_t max_batched_tokens, std::int64_t max_seqs,
                         std::int64_t gpus)
    : coefficients_(model.coefficients()), gpus_(gpus) {
  CAPSTAN_ASSERT(gpus >= 1 && max_seqs >= 1 && max_batched_tokens >= max_seqs);
  const StepCoefficients& c = coefficients_;

  // The step time is linear between the points of the grid. So with the best chunk, the tokens of the step are a grid
  // point or the largest number allowed, or the chunk is a single token.
  const auto chunks = [&](std::int64_t decoding, auto&& visit) {
    for (const std::int64_t point : StepCoefficients::kGrid) {
      const std::int64_t tokens = point - decoding;
      if (tokens >= 1 && point <= max_batched_tokens) visit(tokens);
    }
    if (max_batched_tokens > decoding) visit(max_batched_tokens - decoding);
    if (max_batched_tokens > decoding) visit(std::int64_t{1});
  };

  // The two prices below are per token, without the time that a step takes for each request and for reading the KV.
  // `prefill_gpu_ps` and `decode_gpu_ps` add that time.
  const Picoseconds per_request = c.per_request_ps + c.decode_per_request_ps;
  Picoseconds prefill = INT64_MAX;
  chunks(0, [&](std::int64_t tokens) {
    prefill = std::min(prefill, (model.step_ps(0, 0, tokens, 0, 1) - c.per_request_ps) / tokens);
  });
  Picoseconds decode = INT64_MAX;
  for (std::int64_t decoding = 1; decoding <= max_seqs; ++decoding) {
    decode = std::min(decode, model.decode_base_ps(decoding) / decoding - per_request);
  }
  // The smallest ratio of a mixed step's time to its price: step_time / step_price.
  __int128 step_time = 1;
  __int128 step_price = 1;
  for (std::int64_t decoding = 1; decoding <= max_seqs; ++decoding) {
    chunks(decoding, [&](std::int64_t tokens) {
      const Picoseconds step = model.step_ps(decoding, 0, tokens, 0, 1) - c.per_request_ps - per_request * decoding;
      const Picoseconds price = decode * decoding + prefill * tokens;
      if (step * step_price < price * step_time) {
        step_time = step;
        step_price = price;
      }
    });
  }
  const auto scaled = [&](Picoseconds price) {
    return std::max<Picoseconds>(static_cast<Picoseconds>(price * step_time / step_price) - kRounding, 0);
  };
  prefill_token_ps_ = scaled(prefill);
  decode_token_ps_ = scaled(decode) + per_request;
}

Picoseconds RequestWork::prefill_gpu_ps(std::int64_t tokens, std::int64_t computed) const {
  if (tokens <= 0) return 0;
  const StepCoefficients& c = coefficients_;
  const std::int64_t pairs = doubled_pairs({tokens, computed});
  const Picoseconds attention = c.kappa_milli * (c.prefill_per_pair_fs * pairs / 2000) / 1000;
  return gpus_ * (tokens * prefill_token_ps_ + attention + c.per_request_ps);
}

Picoseconds RequestWork::decode_gpu_ps(std::int64_t tokens, std::int64_t kv_tokens) const {
  if (tokens <= 0) return 0;
  const std::int64_t read = tokens * kv_tokens + tokens * (tokens - 1) / 2;
  return gpus_ * (tokens * decode_token_ps_ + coefficients_.decode_per_kv_token_ps * read);
}

}  // namespace capstan::engine
