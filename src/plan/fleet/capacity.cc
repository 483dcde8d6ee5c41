#include "plan/fleet/capacity.h"

#include <algorithm>
#include <cmath>

#include "plan/fleet/engine_limits.h"

namespace capstan::plan {

namespace {

namespace scale = decide::scale;

scale::Shape mean_shape(model::Role role, const MeanRequest& request) {
  scale::Shape shape;
  shape.prompt = std::max(1.0, request.prompt);
  shape.output = std::max(1.0, request.answer);
  if (role == model::Role::prefill) {
    shape.output = 1;
    shape.prompt_per_output = shape.context = shape.prompt;
    return shape;
  }
  shape.prompt_per_output = shape.prompt / shape.output;
  // A running sequence has only a part of its answer, but long answers stay in the batch for longer. The two effects
  // are assumed to cancel, so that a running sequence holds about one mean answer.
  shape.context = shape.prompt + shape.output;
  return shape;
}

}  // namespace

double mean_tokens(const TokenSpec& tokens) { return tokens.median * std::exp(tokens.sigma * tokens.sigma / 2); }

MeanRequest mean_request(const ServiceSpec& service, const ServicePlan& fleet) {
  const MeanLoad& simulated = fleet.mean_load;
  MeanRequest mean{.prompt = mean_tokens(service.load.prompt),
                   .answer = mean_tokens(service.load.answer),
                   .per_second = service.load.requests_per_s};
  if (simulated.prompt_tokens > 0 && simulated.answer_tokens > 0) {
    mean.prompt = simulated.prompt_tokens;
    mean.answer = simulated.answer_tokens;
    mean.is_simulated = true;
  }
  if (mean.per_second <= 0) mean.per_second = simulated.mean_per_s;
  mean.prompt = std::max(mean.prompt, 1.0);
  mean.answer = std::max(mean.answer, 1.0);
  return mean;
}

ReplicaCapacity replica_capacity(const engine::EngineRow& row, model::Role role, const model::Slo& slo,
                                 const MeanRequest& request) {
  const scale::EngineEstimate engine = scale::estimate_engine(&row, 1'000'000, role, kEngineLimits);
  const scale::Shape shape = mean_shape(role, request);
  const model::Slo bounds = scale::slo_for_mean_prompt(scale::role_slo(slo, role), engine, shape);
  ReplicaCapacity capacity{.found = scale::capacity(engine, shape, {}, bounds)};
  const scale::Capacity& found = capacity.found;
  capacity.requests_per_s = found.tokens_per_s / shape.output;
  const bool is_prefill = role == model::Role::prefill;
  // `found.prompt_s` of a prefill replica includes the idle time that keeps its queue short, so it is too long here.
  capacity.prompt_s = is_prefill ? found.token_s : found.prompt_s * shape.prompt;
  const double prompt_s_per_token = shape.prompt_per_output * found.prompt_s;
  const double token_s = prompt_s_per_token + found.decode_s;
  capacity.prefill_share = is_prefill ? 1 : token_s > 0 ? prompt_s_per_token / token_s : 0;
  const double held = static_cast<double>(found.batch) * shape.context;
  capacity.kv_share = engine.kv_tokens > 0 ? std::min(1.0, held / engine.kv_tokens) : 0;
  return capacity;
}

double sequences_at(const RoleFleet& role, const model::Slo& slo, const MeanRequest& request, double tokens_per_s) {
  const scale::EngineEstimate engine = scale::estimate_engine(&role.engine, 1'000'000, role.role, kEngineLimits);
  const scale::Shape shape = mean_shape(role.role, request);
  const auto most = static_cast<double>(replica_capacity(role.engine, role.role, slo, request).found.batch);
  double sequences = 1;
  while (sequences < most && sequences / scale::token_seconds(engine, shape, sequences) < tokens_per_s) ++sequences;
  return sequences;
}

std::string bound_word(decide::scale::CapacityBound bound) {
  switch (bound) {
    case decide::scale::CapacityBound::tpot:
      return "TPOT";
    case decide::scale::CapacityBound::ttft:
      return "TTFT";
    case decide::scale::CapacityBound::kv:
      return "KV memory";
    case decide::scale::CapacityBound::sequences:
      return "sequences";
  }
  return "";
}

}  // namespace capstan::plan
