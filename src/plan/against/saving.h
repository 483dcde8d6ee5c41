#pragma once

#include "plan/against/difference.h"

namespace capstan::plan {

/// Returns what a change saves: the risk that it removes and, where the plan can compute it, an amount. There are
/// amounts for the minimum of replicas, the machine and the capacity type of a node pool, an added spot pool and
/// Karpenter's consolidation.
/// @param planned  the object of the plan
Saving saving_of(const Plan& plan, const Manifest& planned, const Difference& change);

}  // namespace capstan::plan
