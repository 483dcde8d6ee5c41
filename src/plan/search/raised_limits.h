#pragma once

#include "plan/search/search.h"

namespace capstan::plan {

/// If a service misses its SLO because of `limits`, its `max_replicas` or the `gpu_limit` of its tenant, searches all
/// services again without these bounds, and sets `ServicePlan::raised` of the services that miss it. The limits in it
/// are high enough for all services together and for the quotas of tenants without a service. If a load is huge, only
/// constant fleets on the machines of the plan are tried. Does nothing if the new search fails.
void find_raised_limits(const PlanSpec& spec, const SearchOptions& options, SearchResult& result);

}  // namespace capstan::plan
