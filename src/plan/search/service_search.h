#pragma once

#include <optional>

#include "plan/search/budget.h"
#include "plan/search/fleet_simulator.h"

namespace capstan::plan {

/// The fleets that the search found for Capstan's policy.
struct FoundFleets {
  FleetKey best{};                      ///< simulated under all seeds
  std::optional<FleetKey> runner_up{};  ///< the best of another GPU kind or parallelism, simulated under all seeds
};

/// Finds the cheapest fleet under Capstan's policy that holds the SLO or, if no fleet holds it, the fleet that meets
/// most.
Result<FoundFleets> find_fleets(FleetSimulator& simulator, const SearchBudget& budget);

}  // namespace capstan::plan
