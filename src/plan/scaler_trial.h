#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "plan/fleet.h"
#include "plan/search/search.h"

namespace capstan::plan {

/// Result of another autoscaler on the load and the nodes of a service's plan.
struct ScalerTrial {
  std::int64_t attainment_ppm = 0;      ///< lowest over the plan's seeds, millionths
  std::int64_t micro_usd_per_hour = 0;  ///< mean over the plan's seeds
  std::int64_t simulations = 0;
  std::string refused{};  ///< why it cannot be simulated; empty: it was
};

/// Simulates a policy in place of the plan's, under the plan's seeds.
/// @param scale  the policy's `scale`, as in a scenario
Result<ScalerTrial> try_scaler(const ServicePlan& service, const std::string& scale, const SearchOptions& options);

}  // namespace capstan::plan
