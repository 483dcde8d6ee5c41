#pragma once

#include <string_view>

#include "plan/against/difference.h"

namespace capstan::plan {

/// Adds why a change is made, if neither the plan, an amount nor a risk says it, and what a safe change needs.
/// @param kind  kind of the changed object
void add_reason(std::string_view kind, Difference& change);

}  // namespace capstan::plan
