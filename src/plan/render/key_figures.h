#pragma once

#include "plan/render/page.h"

namespace capstan::plan {

/// Returns a section without its arithmetic: the part of its answer for the page, the statements that the page shows,
/// and its notes. A figure of several services or workloads is one, with their names behind each value; the names are
/// left out if all have the same value.
PageBlock block_of(const Section& section, const PlanSpec& spec);

}  // namespace capstan::plan
