#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace capstan::plan {

/// Returns the first lines of the page, one for each service: its fleet, its cost, and whether it held the SLO in the
/// simulations. With several services a line with their sum follows.
std::vector<std::string> summary_lines(const Plan& plan);

/// Returns the assumed values, one for each line: "services.chat.slo.attainment = 99 %: ...".
std::vector<std::string> default_lines(const Plan& plan);

}  // namespace capstan::plan
