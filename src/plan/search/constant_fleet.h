#pragma once

#include "plan/search/search.h"

namespace capstan::plan {

/// Finds the smallest constant fleet that holds the SLO on the whole load, on the GPU kind, the parallelism and the
/// machine of a plan. It takes far fewer simulations than a search over all kinds, so it suits a huge load.
/// @param spec     without the limits that the fleet may exceed
/// @param service  a service of `spec`
/// @param plan     plan of the service within the limits
/// @param most_requests  simulated requests after which no smaller fleet is tried
/// @param simulations    the number of simulations is added to it
/// @return the plan with the roles and the results of the constant fleet: of the smallest one that holds the SLO under
///     every seed, or of the largest one that was tried, under the hardest seed
Result<ServicePlan> find_constant_fleet_of(const PlanSpec& spec, const ServiceSpec& service, const ServicePlan& plan,
                                           const SearchOptions& options, RequestCount most_requests,
                                           std::int64_t& simulations);

}  // namespace capstan::plan
