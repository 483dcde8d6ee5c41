#pragma once

#include <cstdint>

#include "base/error.h"
#include "plan/fleet.h"
#include "plan/search/search.h"

namespace capstan::plan {

/// Shortfall of the plan's ScaledObject and HPA that a plan accepts, against the attainment that it states.
inline constexpr std::int64_t kThresholdShortfallPpm = 5'000;

/// Finds the minimum of replicas with which the ScaledObject and the HPA of the plan reach the attainment that it
/// states. They see neither the length of a start nor what is on its way, so they may need more ready replicas than
/// Capstan's policy. Sets `RoleFleet::threshold_minimum` of each role and the trials of the service. Does nothing for
/// an engine whose metrics the simulator does not export, and for a fleet that misses the SLO.
/// @return number of simulations
Result<std::int64_t> fit_threshold_minimum(const PlanSpec& spec, const ServiceSpec& service, ServicePlan& fleet,
                                           const SearchOptions& options);

}  // namespace capstan::plan
