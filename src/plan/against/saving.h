#pragma once

#include "plan/against/difference.h"

namespace capstan::plan {

/// Returns what a change saves: an amount where the plan can compute it (minimum of replicas, machine and capacity type
/// of a node pool, Karpenter's consolidation), else the risk that it removes.
/// @param planned  the object of the plan
Saving saving_of(const Plan& plan, const Manifest& planned, const Difference& change);

}  // namespace capstan::plan
