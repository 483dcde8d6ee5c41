#pragma once

#include <string_view>

#include "plan/against/difference.h"

namespace capstan::plan {

/// Adds the caution and the reason of the change if they are empty. Both come from tables of kinds and paths. If the
/// tables give no reason, and the change has no saving and removes no risk, its reason is "to match the plan".
/// @param kind  kind of the changed object
void add_reason(std::string_view kind, Difference& change);

}  // namespace capstan::plan
