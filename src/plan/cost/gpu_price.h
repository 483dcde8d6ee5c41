#pragma once

#include "plan/cost/answers.h"
#include "plan/fleet.h"

namespace capstan::plan {

/// Returns the price per GPU of the nodes for the minimum of a role, at their capacity type (`RoleFleet::base`); 0 if
/// no price is known.
GpuPrice gpu_price(const RoleFleet& role);

/// Returns the price of one node for the minimum of a role, at the same capacity type; 0 if it is not known.
MicroUsd node_price(const RoleFleet& role);

}  // namespace capstan::plan
