#pragma once

#include <optional>
#include <span>

#include "plan/search/budget.h"
#include "plan/search/fleet_simulator.h"

// Fleets whose nodes are reclaimed: the rate of reclaims in tests, and the cost of a fleet whose nodes are all spot.
namespace capstan::plan {

/// Returns the chance of a reclaim in the stress test, for an hour of each spot node, millionths: twice the stated one.
/// It is raised until one reclaim is expected in each simulation, because a test without a reclaim shows nothing.
/// @param seeds  simulations of the fleet; they show how long it has spot nodes
std::uint32_t stress_reclaims_ppm(const PlanSpec& spec, const FleetOption& fleet, std::span<const Trial> seeds);

/// Returns the seed that met the fewest requests while spot nodes were reclaimed as often as `stress_reclaims_ppm`
/// says. For a huge load, only the seed that met the fewest requests without more reclaims is simulated.
Result<Trial> simulate_reclaims(FleetSimulator& simulator, const FleetOption& fleet, std::span<const Trial> seeds,
                                const SearchBudget& budget);

/// Finds a small minimum with which a fleet under Capstan's policy holds the SLO under every seed when all its nodes
/// are spot. The simulations are among `FleetSimulator::tried`.
/// @return the fleet with the last minimum that was tried; nothing if the machines cannot be bought as spot for less
Result<std::optional<FleetKey>> find_all_spot_fleet(FleetSimulator& simulator, const FleetKey& capstan);

/// Simulates the chosen fleet with all nodes as spot, if needed with higher minima.
/// @param plan  plan of the service
/// @return nothing if all nodes are spot already, if the cluster buys no spot nodes for less, or if the plan misses its
///     SLO
Result<std::optional<AllSpot>> try_all_spot(FleetSimulator& simulator, const FleetKey& chosen, const ServicePlan& plan,
                                            const SearchBudget& budget);

}  // namespace capstan::plan
