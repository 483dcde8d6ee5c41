#pragma once

#include <string_view>

#include "plan/against/difference.h"

namespace capstan::plan {

/// Adds the condition under which the change is safe. Also adds the reason for the change if neither the plan nor an
/// amount nor a risk gives one.
/// @param kind  kind of the changed object
void add_reason(std::string_view kind, Difference& change);

}  // namespace capstan::plan
