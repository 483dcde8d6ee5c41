#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenario/scenario.h"

// A fleet of constant size, with the nodes on which it stands from the start: what an operator deploys who does not
// scale at all.
namespace capstan::experiment {

/// Replicas by service of the catalog: one number; or prefill, decode; or one for each variant.
using ReplicaCounts = std::vector<ReplicaCount>;

/// The nodes under a fleet.
struct StandingNodes {
  std::vector<sim::ExistingNodes> nodes;
  std::int64_t micro_usd_per_hour = 0;
  GpuCount gpus = 0;
};

/// The nodes of a scenario that stay under another fleet.
enum class Existing : std::uint8_t {
  without_pool,  ///< those of no pool, which are paid in any case; all others are chosen anew
  all,
};

/// Chooses nodes that hold so many replicas. The scenario's nodes that stay are used first; then machines are added,
/// the cheapest for each replica first, within the limits of the pools and the room of the zones.
/// @return nothing where the replicas do not fit within these limits
std::optional<StandingNodes> nodes_for(const scenario::Scenario& scenario, const ReplicaCounts& replicas,
                                       Existing stay = Existing::without_pool);

/// Returns the scenario with so many replicas and the nodes for them, all of them ready at the start. It has no
/// policies. Windows of other replica bounds are left out, since they would change the size.
scenario::Scenario with_standing_fleet(const scenario::Scenario& scenario, const ReplicaCounts& replicas,
                                       const StandingNodes& nodes);

/// Returns the policy that keeps so many replicas and replaces nodes that the provider takes.
scenario::PolicySpec constant_policy(const scenario::Scenario& scenario, const ReplicaCounts& replicas);

/// Returns what the replicas of a service are called where a scenario has several: "prefill", "decode", "h100".
std::string part_name(const model::Catalog& catalog, const model::Service& service);

/// Returns "9 replicas", "5 prefill and 4 decode replicas" or, of variants, "3 h100 replicas": those there are none of
/// are left out.
std::string fleet_words(const scenario::Scenario& scenario, const ReplicaCounts& replicas);

}  // namespace capstan::experiment
