#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan/search/budget.h"
#include "plan/search/fleet_simulator.h"

// Fleets whose nodes are reclaimed: the rate of reclaims in tests, and the cost of a fleet whose base is spot.
namespace capstan::plan {

/// Shares of the nodes of the minimum (the base) that may be spot, millionths. At an equal minimum, a base that is
/// spot as a whole costs less than a base of which half is spot. So half is tried only if the whole base as spot misses
/// the SLO or needs a higher minimum.
inline constexpr std::array<std::uint32_t, 2> kSpotBaseShares = {1'000'000, 500'000};

/// Returns the chance of a reclaim in the stress test, for an hour of each spot node, millionths: twice the stated one.
/// It is raised until one reclaim is expected in each simulation, because a test without a reclaim shows nothing.
/// @param seeds  simulations of the fleet; they show how long it has spot nodes
std::uint32_t stress_reclaims_ppm(const PlanSpec& spec, const FleetOption& fleet, std::span<const Trial> seeds);

/// Returns the seed that met the fewest requests while spot nodes were reclaimed as often as `stress_reclaims_ppm`
/// says. For a huge load, only the seed that met the fewest requests without more reclaims is simulated.
Result<Trial> simulate_reclaims(FleetSimulator& simulator, const FleetOption& fleet, std::span<const Trial> seeds,
                                const SearchBudget& budget);

/// Returns the fleet with the next minimum to try after a fleet that misses the SLO; nothing if the fleet has the
/// highest minimum already.
std::optional<FleetKey> with_higher_minimum(const FleetSimulator& simulator, FleetKey key);

/// Finds a small minimum with which a fleet under Capstan's policy holds the SLO under every seed, also under more
/// reclaims, when a share of the nodes of its minimum and all added nodes are spot. The simulations without more
/// reclaims are among `FleetSimulator::tried`.
/// @param share_ppm  one of `kSpotBaseShares`
/// @return nothing if no minimum that was tried holds the SLO, if the machines cannot be bought as spot for less, or if
///     they are too few to divide
Result<std::optional<FleetKey>> find_spot_base_fleet(FleetSimulator& simulator, const FleetKey& capstan,
                                                     std::uint32_t share_ppm, const SearchBudget& budget);

/// Simulates the chosen fleet with its base as spot, if needed with higher minima. If that misses the SLO or needs a
/// higher minimum, simulates half of the base as spot, too.
/// @param plan  plan of the service
/// @return the cheaper one that holds the SLO, else the first; nothing if nodes of the base are spot already, if the
///     cluster buys no spot nodes for less, or if the plan misses its SLO
Result<std::optional<SpotBase>> try_spot_base(FleetSimulator& simulator, const FleetKey& chosen,
                                              const ServicePlan& plan, const SearchBudget& budget);

/// Returns the fleets under Capstan's policy from which a search for a spot base begins: the best one, and those of
/// other candidates that may cost less than the chosen fleet when all their nodes are spot, at most two.
std::vector<FleetKey> spot_base_starts(const FleetSimulator& simulator, const FleetKey& best, const TriedFleet& chosen);

}  // namespace capstan::plan
