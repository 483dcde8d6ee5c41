#pragma once

#include <vector>

#include "plan/against/difference.h"
#include "plan/against/match.h"

namespace capstan::plan {

/// Returns the changes that turn an existing object into the planned one, without what they save.
/// @param renames  names that exist in place of the plan's; a value with such a name is no change
std::vector<Difference> compare_object(const Manifest& planned, const ExistingObject& existing, const Renames& renames);

}  // namespace capstan::plan
