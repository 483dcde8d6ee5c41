#pragma once

#include "base/error.h"
#include "experiment/foresight/constant_fleet.h"
#include "experiment/run/batch.h"

namespace capstan::experiment {

/// Largest number of larger fleets that are tried. Each has about an eighth more replicas than the one before, at least
/// one more.
inline constexpr int kMaxLargerFleets = 6;

/// Checks with other seeds a constant fleet that holds the SLO with the seed of the scenario. If it misses the SLO with
/// one of them, tries larger fleets within the limits until one holds it with every seed.
/// @param fleet  gets its members `seeds` and `steady`
Result<void> check_constant_fleet(const scenario::Scenario& scenario, ConstantFleet& fleet, ExtraRuns& extra);

}  // namespace capstan::experiment
