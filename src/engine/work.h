#pragma once

#include <cstdint>

#include "engine/step_model.h"

namespace capstan::engine {

/// The useful work of a request, for the score (design §6): the least GPU time in which it could have been served at
/// the engine's best batch, ideal packing, nothing recomputed or wasted.
///
/// A prompt token is priced at the best chunk and a decoded token at the best batch, each as if alone; both prices are
/// then lowered together until no step that mixes the two is priced above its time. So the prices of what an engine did
/// never sum to more than it took, and useful time never exceeds busy time.
class RequestWork {
 public:
  /// `gpus` is the tensor parallelism: all GPUs of the replica work together.
  RequestWork(const StepModel& model, std::int64_t max_batched_tokens, std::int64_t max_seqs, std::int64_t gpus);

  Picoseconds prefill_token_ps() const { return prefill_token_ps_; }
  Picoseconds decode_token_ps() const { return decode_token_ps_; }  ///< without the KV that it reads

  /// GPU time of `tokens` prompt tokens computed behind `computed` others.
  Picoseconds prefill_gpu_ps(std::int64_t tokens, std::int64_t computed) const;
  /// GPU time of `tokens` decoded tokens, the first of which reads `kv_tokens`.
  Picoseconds decode_gpu_ps(std::int64_t tokens, std::int64_t kv_tokens) const;
  /// GPU time of a whole request, `cached` tokens of its prompt found in the prefix cache. output_tokens >= 1.
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
