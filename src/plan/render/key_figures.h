#pragma once

#include "plan/render/page.h"

namespace capstan::plan {

/// Returns a section without its arithmetic: the part of its answer for the page, the statements that the page shows,
/// and its notes. The same figure of several services or workloads becomes one figure, with their names behind each
/// value. The names are left out if all have the same value.
PageBlock block_of(const Section& section, const PlanSpec& spec);

}  // namespace capstan::plan
