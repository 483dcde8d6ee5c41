#pragma once

#include <vector>

#include "plan/against/difference.h"
#include "plan/against/match.h"

namespace capstan::plan {

/// Returns the changes that turn an existing object into the planned one. `Difference::saving` is not set.
/// @param renames  names of the plan with the existing names in their place; a value that differs only by them is no
///     change
std::vector<Difference> compare_object(const Manifest& planned, const ExistingObject& existing, const Renames& renames);

}  // namespace capstan::plan
