#pragma once

#include "plan/cost/answers.h"
#include "plan/fleet/fleet.h"

namespace capstan::plan {

/// Returns the price per GPU of the nodes on which the minimum replicas of a role run, at the capacity type of these
/// nodes (`RoleFleet::base`); 0 if no price is known.
GpuPrice gpu_price(const RoleFleet& role);

/// Returns the price of one of these nodes, at the capacity type `RoleFleet::base`; 0 if it is not known.
MicroUsd node_price(const RoleFleet& role);

}  // namespace capstan::plan
