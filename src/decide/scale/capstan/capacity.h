#pragma once

#include "decide/scale/capstan/load.h"
#include "decide/scale/capstan/memory.h"
#include "decide/scale/capstan/sizing.h"
#include "engine/table.h"
#include "model/service.h"
#include "model/slo.h"

namespace capstan::decide::scale {

/// Mean request, estimated from token counters, running sequences and KV usage. No request counter is needed.
struct Shape {
  double prompt_per_output = 4;  ///< prompt tokens computed for each token generated
  double context = 1024;         ///< KV tokens of a running sequence
  double prompt = 1024;          ///< length of the prompt, tokens
  double output = 256;           ///< length of the answer, tokens
};

/// The policy's model of a replica's engine: the table's step times, corrected by measured ones.
struct EngineEstimate {
  engine::StepCoefficients step;
  model::Role role = model::Role::both;
  double kv_tokens = 0;        ///< KV cache of one replica
  std::int64_t sequences = 1;  ///< mean number of concurrent sequences at which the engine seldom reaches its limit
  double batched_tokens = 0;   ///< token budget of one step
  bool modelled = false;       ///< true: the engine table has a row for this model
  double correction = 1;       ///< factor on the table's step times
};

/// Capacity of one replica within its SLO.
struct Capacity {
  std::int64_t batch = 1;   ///< concurrent sequences
  double token_s = 0;       ///< time between two tokens of a sequence
  double tokens_per_s = 0;  ///< generated tokens/s while the replica also computes the prompts
  double decode_s = 0;      ///< replica time per generated token at that batch
  double prompt_s = 0;      ///< replica time per prompt token
  Sizing::Bound bound = Sizing::Bound::sequences;
  bool out_of_reach = false;  ///< true: even a single sequence misses the SLO
};

/// Returns the engine model for a row of the engine table.
/// @param row null: the table has no row for the model; its first row is used, and the correction may be large
/// @param limits limits the engine was configured with; unset ones take vLLM's defaults
EngineEstimate estimate_engine(const engine::EngineRow* row, std::int64_t correction_ppm,
                               model::Role role = model::Role::both, const model::StepLimits& limits = {});

/// Returns the bounds that replicas of a role are responsible for: prefill for the first token, decode for the rest.
model::Slo role_slo(const model::Slo& slo, model::Role role);

/// Returns the SLO with its TTFT bound evaluated for the mean prompt.
model::Slo slo_for_mean_prompt(model::Slo slo, const EngineEstimate& engine, const Shape& shape);

/// Returns the time between two tokens of one of `batch` sequences, seconds, including the prefill of their prompts.
double token_seconds(const EngineEstimate& engine, const Shape& shape, double batch);

/// Returns the standard deviation of a request's mean time between tokens, seconds. The prompts of other requests cause
/// it.
double token_deviation(const EngineEstimate& engine, const Shape& shape, double batch);

/// Updates the estimate of the mean request.
Shape learn_shape(const Load& load, const EngineEstimate& engine, Duration since_last, CapstanMemory& memory);

/// Compares the measured time between tokens of a variant's replicas with the model's at the same batches, and moves
/// the correction towards their ratio. This works at any load, whereas throughput is informative only on a full
/// replica. The correction is clamped and changes slowly. Prefill-only replicas show no such time, so the table is used
/// uncorrected for them.
void learn_correction(const Load& load, std::uint32_t variant, const Shape& shape, Duration since_last,
                      VariantMemory known, EngineEstimate& engine);

/// Returns the largest batch that fits into a replica's KV memory and with which the replica still meets its bounds on
/// TPOT and TTFT, and the throughput with this batch. For a prefill-only replica, the batch is the largest number of
/// prompts that fit into the KV memory and finish within the TTFT bound.
/// @param seen  load of the replicas of its variant
Capacity capacity(const EngineEstimate& engine, const Shape& shape, const Load::VariantLoad& seen,
                  const model::Slo& slo);

}  // namespace capstan::decide::scale
