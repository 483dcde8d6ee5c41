#pragma once

#include <string>
#include <vector>

#include "plan/result/plan.h"

namespace capstan::plan {

/// Returns the commands of the plan in the order of their steps. Commands of options that are not chosen are left out
/// unless they are optional.
std::vector<ApplyCommand> chosen_commands(const Plan& plan);

/// Returns a shell script with the chosen commands, which `--out` writes as apply.sh. Optional commands are comments.
std::string apply_script(const Plan& plan);

}  // namespace capstan::plan
