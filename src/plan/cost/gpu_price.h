#pragma once

#include "plan/cost/answers.h"
#include "plan/fleet.h"

namespace capstan::plan {

/// Returns the price of a GPU of the nodes on which a role always runs: of the capacity type that the plan buys there,
/// reserved if that is allowed and cheaper. A price of 0 means that none is known.
GpuPrice gpu_price(const RoleFleet& role);

/// Returns the price of such a node.
MicroUsd node_price(const RoleFleet& role);

}  // namespace capstan::plan
