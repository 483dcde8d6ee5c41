#pragma once

#include "plan/render/page.h"

namespace capstan::plan {

/// Returns a section without its arithmetic: the answer, and the figures that decide. A table in the source names these
/// figures for each section. The name of the only service of a plan is left out of them.
PageBlock block_of(const Section& section, const PlanSpec& spec);

}  // namespace capstan::plan
