#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenario/scenario.h"

// A fleet of constant size, whose replicas and nodes exist from the start, as without any autoscaler.
namespace capstan::experiment {

/// Replicas by service of the catalog. There is one number if all replicas are of one kind, otherwise one for prefill
/// and one for decode, or one for each variant.
using ReplicaCounts = std::vector<ReplicaCount>;

/// The nodes on which a fleet runs.
struct StandingNodes {
  std::vector<sim::ExistingNodes> nodes;
  std::int64_t micro_usd_per_hour = 0;
  GpuCount gpus = 0;
};

/// The nodes of a scenario that remain when another fleet replaces its replicas.
enum class RemainingNodes : std::uint8_t {
  without_pool,  ///< nodes without a pool, which are paid for in any case; all others are chosen anew
  all,
};

/// Chooses nodes for these replicas. The remaining nodes of the scenario are used first. Then machines are added, the
/// lowest price per replica first and spot machines last, within the limits of the pools and the room of the zones.
/// @return nothing if the replicas do not fit within these limits
std::optional<StandingNodes> nodes_for(const scenario::Scenario& scenario, const ReplicaCounts& replicas,
                                       RemainingNodes remaining = RemainingNodes::without_pool);

/// Returns the limits of the scenario that allow no larger fleet, as it states them: "service.replicas.max: 16",
/// "cluster.pools.0.gpu_limit: 8". Empty if one more replica of each kind is allowed and fits.
std::vector<std::string> size_limits(const scenario::Scenario& scenario, const ReplicaCounts& replicas);

/// Returns the scenario with these replicas and nodes, all of them ready at the start. The result has no policies. It
/// also has no windows, because these would change the number of replicas.
scenario::Scenario with_standing_fleet(const scenario::Scenario& scenario, const ReplicaCounts& replicas,
                                       const StandingNodes& nodes);

/// Returns the policy that keeps this number of replicas and replaces nodes that the provider takes.
scenario::PolicySpec constant_policy(const scenario::Scenario& scenario, const ReplicaCounts& replicas);

/// Returns the name of a service's replicas in a scenario with several services: "prefill", "decode", "h100".
std::string part_name(const model::Catalog& catalog, const model::Service& service);

/// Returns "9 replicas", "5 prefill and 4 decode replicas" or, for variants, "3 h100 replicas". Variants without
/// replicas are left out.
std::string fleet_words(const scenario::Scenario& scenario, const ReplicaCounts& replicas);

}  // namespace capstan::experiment
