#pragma once

#include "plan/search/budget.h"
#include "plan/search/fleet_simulator.h"

namespace capstan::plan {

/// Simulates a fleet with cold starts twice as long, with the loss of a zone, with 1.5 times the load, and if it has
/// spot nodes with more reclaims, under the seeds of its trials, and returns the trial of each condition that meets the
/// fewest requests. Of a huge load, only the seed that met the fewest requests is simulated.
/// @param other  if not null, a fleet under another scaler, which is simulated with 1.5 times the load, too: the
///     cheapest scaler need not be the one that follows growth best
Result<std::vector<Trial>> robustness(FleetSimulator& simulator, const FleetOption& fleet,
                                      const std::vector<Trial>& seeds, const FleetOption* other,
                                      const SearchBudget& budget);

}  // namespace capstan::plan
