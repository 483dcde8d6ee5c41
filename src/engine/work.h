#pragma once

#include <cstdint>

#include "engine/step_model.h"

namespace capstan::engine {

/// Computes the useful work of a request for the score: the least GPU time in which it could have been served with the
/// engine's best batch and ideal packing, and without recomputing or wasting anything.
///
/// The price of a prompt token is that of the best chunk in a step without decoding. The price of a decoded token is
/// that of the best batch in a step without prefill. Both prices are then lowered by one factor, so that no step that
/// mixes the two is priced above its time. Therefore the prices of an engine's work never add up to more than its time,
/// and useful time never exceeds busy time.
class RequestWork {
 public:
  /// `gpus` is the number of GPUs of a replica, with those of all pipeline stages.
  RequestWork(const StepModel& model, std::int64_t max_batched_tokens, std::int64_t max_seqs, std::int64_t gpus);

  Picoseconds prefill_token_ps() const { return prefill_token_ps_; }
  /// Returns the price of a decoded token without the time to read its KV.
  Picoseconds decode_token_ps() const { return decode_token_ps_; }

  /// Returns the GPU time of `tokens` prompt tokens that follow `computed` earlier ones.
  Picoseconds prefill_gpu_ps(std::int64_t tokens, std::int64_t computed) const;
  /// Returns the GPU time of `tokens` decoded tokens, the first of which reads `kv_tokens`.
  Picoseconds decode_gpu_ps(std::int64_t tokens, std::int64_t kv_tokens) const;
  /// Returns the GPU time of a request with `cached` prompt tokens found in the prefix cache. output_tokens >= 1.
  Picoseconds gpu_ps(std::int64_t input_tokens, std::int64_t output_tokens, std::int64_t cached = 0) const {
    return prefill_gpu_ps(input_tokens - cached, cached) + decode_gpu_ps(output_tokens - 1, input_tokens + 1);
  }

 private:
  StepCoefficients coefficients_;
  std::int64_t gpus_;
  Picoseconds prefill_token_ps_ = 0;
  Picoseconds decode_token_ps_ = 0;
};

}  // namespace capstan::engine
