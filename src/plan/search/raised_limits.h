#pragma once

#include "plan/search/search.h"

namespace capstan::plan {

/// Searches a service that misses its SLO within `limits` or `max_replicas` again without these bounds, and sets
/// `ServicePlan::raised`. Does nothing for a spec with several services, because they share the limits, and for a huge
/// load. An error of that search sets nothing.
void find_raised_limits(const PlanSpec& spec, const SearchOptions& options, SearchResult& result);

}  // namespace capstan::plan
