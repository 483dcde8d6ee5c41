#pragma once

#include "plan/search/budget.h"
#include "plan/search/fleet_simulator.h"

namespace capstan::plan {

/// Simulates a fleet under worse conditions: cold starts twice as long, the loss of a zone, 1.5 times the load, and
/// more reclaims if it has spot nodes. Each condition is simulated under the seeds of the fleet's trials; for a huge
/// load, only under the seed that met the fewest requests. Returns the worst trial of each condition.
/// @param other  if not null, a fleet under another scaler, which is simulated with 1.5 times the load, too: the
///     cheapest scaler need not be the one that follows growth best
Result<std::vector<Trial>> robustness(FleetSimulator& simulator, const FleetOption& fleet,
                                      const std::vector<Trial>& seeds, const FleetOption* other,
                                      const SearchBudget& budget);

}  // namespace capstan::plan
