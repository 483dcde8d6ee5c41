#pragma once

#include <string>

#include "decide/scale/capstan/capacity.h"
#include "plan/fleet.h"

// The mean request of a service and what one replica makes of it, from the engine table.
namespace capstan::plan {

struct MeanRequest {
  double prompt = 0;      ///< tokens
  double answer = 0;      ///< tokens
  double per_second = 0;  ///< requests outside bursts
  bool is_simulated =
      false;  ///< true: the tokens are means over the simulated requests, not of the stated distribution
};

/// Returns the mean request of the simulations, or if there are none of the stated load.
MeanRequest mean_request(const ServiceSpec& service, const ServicePlan& fleet);

/// The capacity of one replica within its SLO.
struct ReplicaCapacity {
  decide::scale::Capacity found{};
  double requests_per_s = 0;  ///< mean requests that one replica serves within the SLO
  double prompt_s = 0;        ///< time to compute the mean prompt at that batch, seconds
  double seconds_served = 0;  ///< time from a request's start to its last token at that batch
};

ReplicaCapacity replica_capacity(const ServiceSpec& service, const RoleFleet& role, const MeanRequest& request);

/// Returns "sequences", "KV memory", "TPOT" or "TTFT".
std::string bound_word(decide::scale::CapacityBound bound);

}  // namespace capstan::plan
