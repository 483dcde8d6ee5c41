#pragma once

#include "decide/scale/capstan/load.h"
#include "decide/scale/capstan/memory.h"
#include "decide/scale/capstan/sizing.h"
#include "engine/table.h"
#include "model/service.h"
#include "model/slo.h"

namespace capstan::decide::scale {

/// What requests look like on average, from the counters of tokens alone.
struct Shape {
  double prompt_per_output = 4;  ///< prompt tokens computed for each token generated
  double context = 1024;         ///< KV tokens of a running sequence
  double prompt = 1024;          ///< tokens
  double output = 256;           ///< tokens
};

/// A replica's engine as the policy believes it to be: the table's step times, corrected by what replicas deliver.
struct EngineBelief {
  engine::StepCoefficients step;
  model::Role role = model::Role::both;
  double kv_tokens = 0;        ///< that a replica's memory holds
  std::int64_t sequences = 1;  ///< that run at once on average, so that the engine's limit is seldom met
  double batched_tokens = 0;   ///< of one step
  bool modelled = false;
  double correction = 1;  ///< a step takes this times longer
};

/// What one replica carries within its SLO.
struct Capacity {
  std::int64_t batch = 1;   ///< sequences that run at once
  double token_s = 0;       ///< between two tokens of a sequence
  double tokens_per_s = 0;  ///< generated, with the prompts that go with them
  double decode_s = 0;      ///< of a replica's time, for each token that it generates at that batch
  double prompt_s = 0;      ///< of a replica's time, for each prompt token
  Sizing::Bound bound = Sizing::Bound::sequences;
  bool out_of_reach = false;
};

/// @param row nothing: a model that the table does not know; a plausible one stands in, and the correction may go far
/// @param limits what the engine is told; where it is not, what vLLM does then
EngineBelief believe(const engine::EngineRow* row, std::int64_t correction_ppm, model::Role role = model::Role::both,
                     const model::StepLimits& limits = {});

/// The bounds that replicas of a role answer for: who computes prompts, for the first token; who decodes, for the rest.
model::Slo share_of(const model::Slo& slo, model::Role role);

/// The same with the bound on TTFT that the mean prompt has.
model::Slo of_mean_prompt(model::Slo slo, const EngineBelief& engine, const Shape& shape);

/// Seconds between two tokens of one of `batch` sequences, the prefill that goes with them included.
double token_seconds(const EngineBelief& engine, const Shape& shape, double batch);

/// How far a request's mean time between tokens lies from that, seconds: the prompts of others that come in between.
double token_deviation(const EngineBelief& engine, const Shape& shape, double batch);

/// Brings what is known of requests up to date.
Shape learn_shape(const Load& load, const EngineBelief& engine, Duration since_last, CapstanMemory& memory);

/// Compares the time between tokens, as the replicas of a variant deliver it, with the model's at the same batches, and
/// leans towards it: visible at any load, where the throughput of a full replica is not. Clamped, and slow. Replicas
/// that only compute prompts show no such time: of them the table is believed.
void learn_correction(const Load& load, std::uint32_t variant, const Shape& shape, Duration since_last, Learned known,
                      EngineBelief& engine);

/// The largest batch at which a replica still holds TPOT, TTFT and its KV memory, and what it then delivers. Of one
/// that only computes prompts: as many as are through within the bound on TTFT.
/// @param seen  what replicas of its variant hold
Capacity capacity(const EngineBelief& engine, const Shape& shape, const Load::OfVariant& seen, const model::Slo& slo);

}  // namespace capstan::decide::scale
