#pragma once

#include <optional>

#include "plan/search/budget.h"
#include "plan/search/fleet_simulator.h"

namespace capstan::plan {

/// Returns conditions under which a zone is lost for `ClusterSpec::zone_outage`, beginning at a third of the load;
/// nothing for a cluster with one zone.
std::optional<Conditions> zone_loss_conditions(const FleetSimulator& simulator);

/// Finds a small minimum with which the fleet holds the SLO while a zone is lost, on the same machines and under the
/// same scaler. A minimum counts only if the SLO is held under every seed. For a huge load, only the worst seed is
/// simulated.
/// @param chosen  the fleet of the plan
/// @param plan    the plan of the service, with the results under its seeds and under worse conditions
/// @return nothing if the fleet holds the SLO without the zone, or misses it with all zones
Result<std::optional<ZoneLossMinimum>> find_zone_loss_minimum(FleetSimulator& simulator, const FleetKey& chosen,
                                                              const ServicePlan& plan, const SearchBudget& budget);

}  // namespace capstan::plan
