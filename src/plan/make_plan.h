#pragma once

#include "base/error.h"
#include "plan/result/plan.h"
#include "plan/search/search.h"

namespace capstan::plan {

/// Makes the plan of a spec that was read and not refused. The section on monitoring is the last one, because the page
/// ends with its kill switch.
Result<Plan> make_plan(PlanSpec spec, const SearchOptions& options);

}  // namespace capstan::plan
