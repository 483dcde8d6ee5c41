#include "plan/sections/mean_request.h"

#include <algorithm>
#include <cmath>

namespace capstan::plan {

namespace {

/// Returns the mean of a log-normal distribution, without its upper end.
double mean_of(const TokenSpec& tokens) { return tokens.median * std::exp(tokens.sigma * tokens.sigma / 2); }

}  // namespace

MeanRequest mean_request(const ServiceSpec& service, const ServicePlan& fleet) {
  double prompt = 0, answer = 0, requests = 0, seconds = 0;
  for (const Trial& trial : fleet.seeds) {
    prompt += static_cast<double>(trial.prompt_tokens);
    answer += static_cast<double>(trial.answer_tokens);
    requests += static_cast<double>(trial.requests);
    seconds += std::chrono::duration<double>(trial.simulated).count();
  }
  MeanRequest mean{.prompt = mean_of(service.load.prompt),
                   .answer = mean_of(service.load.answer),
                   .per_second = service.load.requests_per_s};
  if (requests > 0 && prompt > 0 && answer > 0) {
    mean.prompt = prompt / requests;
    mean.answer = answer / requests;
    mean.is_simulated = true;
  }
  if (mean.per_second <= 0 && seconds > 0) mean.per_second = requests / seconds;
  mean.prompt = std::max(mean.prompt, 1.0);
  mean.answer = std::max(mean.answer, 1.0);
  return mean;
}

ReplicaCapacity replica_capacity(const ServiceSpec& service, const RoleFleet& role, const MeanRequest& request) {
  namespace scale = decide::scale;
  const scale::EngineBelief engine = scale::believe(&role.engine, 1'000'000, role.role);
  const scale::Shape shape{.prompt_per_output = request.prompt / request.answer,
                           .context = request.prompt + request.answer / 2,
                           .prompt = request.prompt,
                           .output = request.answer};
  const model::Slo slo = scale::slo_for_mean_prompt(scale::role_slo(service.slo, role.role), engine, shape);
  ReplicaCapacity capacity{.found = scale::capacity(engine, shape, {}, slo)};
  capacity.prompt_s = capacity.found.prompt_s * request.prompt;
  const bool is_prefill = role.role == model::Role::prefill;
  const double tokens = is_prefill ? 1 : request.answer;
  capacity.requests_per_s = capacity.found.tokens_per_s / tokens;
  capacity.seconds_served = capacity.found.token_s * tokens;
  return capacity;
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
