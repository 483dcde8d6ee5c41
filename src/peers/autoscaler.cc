#include "peers/autoscaler.h"

#include <algorithm>

namespace capstan::peers {

using Phase = model::Gang::Phase;
using Replica = decide::scale::WorkloadView::Replica;

std::int64_t series_ms(Instant at) { return kSeriesStartMs + at.since_start / std::chrono::milliseconds(1); }

std::string pod_name(model::GangId gang) { return "replica-" + std::to_string(gang.value); }

ReplicaCount existing_replicas(const decide::scale::WorkloadView& role) {
  return std::ranges::count_if(role.replicas, [](const Replica& replica) { return replica.phase != Phase::draining; });
}

ReplicaCount ready_replicas(const decide::scale::WorkloadView& role) {
  return std::ranges::count_if(role.replicas, [](const Replica& replica) { return replica.phase == Phase::ready; });
}

}  // namespace capstan::peers
