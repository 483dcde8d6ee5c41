#pragma once

#include <string>

#include "decide/scale/capstan/capacity.h"
#include "plan/fleet/fleet.h"

// The mean request of a service and how many of them one replica serves, from the engine table. All parts of the plan
// use this model: the search, the thresholds, the minimum by formula, and the rate of a stated concurrency.
namespace capstan::plan {

/// Returns the mean of a log-normal number of tokens. The upper bound of the distribution is not taken into account.
double mean_tokens(const TokenSpec& tokens);

struct MeanRequest {
  double prompt = 0;          ///< mean length of a prompt, tokens
  double answer = 0;          ///< mean length of an answer, tokens
  double per_second = 0;      ///< requests per second outside bursts
  bool is_simulated = false;  ///< true: means of the simulated requests; false: of the stated distribution
};

/// Returns the mean request of the simulations; without simulations, the mean request of the stated load. The rate is
/// the stated rate outside bursts or, for a recorded load, the mean rate of the simulations.
MeanRequest mean_request(const ServiceSpec& service, const ServicePlan& fleet);

/// The capacity of one replica within its SLO.
struct ReplicaCapacity {
  decide::scale::Capacity found{};
  double requests_per_s = 0;  ///< requests of mean length per second that one replica serves within the SLO
  double prompt_s = 0;        ///< time to compute the mean prompt, without the time that it waits, seconds
  double prefill_share = 0;   ///< part of the step time that prompts take, 0 to 1
  double kv_share = 0;        ///< part of the KV memory that the batch holds, 0 to 1
};

/// Returns the capacity of a replica of a row of the engine table.
ReplicaCapacity replica_capacity(const engine::EngineRow& row, model::Role role, const model::Slo& slo,
                                 const MeanRequest& request);
inline ReplicaCapacity replica_capacity(const ServiceSpec& service, const RoleFleet& role, const MeanRequest& request) {
  return replica_capacity(role.engine, role.role, service.slo, request);
}

/// Returns the fewest running requests at which a replica generates this many answer tokens per second; at most the
/// requests that it runs at once within the SLO.
double sequences_at(const RoleFleet& role, const model::Slo& slo, const MeanRequest& request, double tokens_per_s);

/// Returns "sequences", "KV memory", "TPOT" or "TTFT".
std::string bound_word(decide::scale::CapacityBound bound);

}  // namespace capstan::plan
