#pragma once

#include <map>
#include <string>

#include "plan/plan.h"

namespace capstan::plan {

/// Returns the files that `--out` writes, by path below its folder: the page as plan.md, one file for each path that a
/// manifest names, with the objects of that path as several documents, and the simulated scenarios.
std::map<std::string, std::string> plan_files(const Plan& plan);

}  // namespace capstan::plan
