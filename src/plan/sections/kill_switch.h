#pragma once

#include <string>
#include <vector>

#include "plan/sections/sections.h"

namespace capstan::plan {

/// Returns the commands of the kill switch. For each service and scaler, the first commands stop the scaler and set a
/// safe number of replicas, and the last ones give the replicas back to the scaler. The scaler that the plan applies
/// comes first; the other two follow, for a cluster that runs one of them.
std::vector<std::string> kill_switch_commands(const PlanFacts& facts);

}  // namespace capstan::plan
