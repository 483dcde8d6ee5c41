#pragma once

#include <vector>

#include "plan/fleet.h"

namespace capstan::plan {

/// Computes the cost of nodes that several services share, and sets the share of each service by the GPU time that its
/// pods hold. The simulations have each service on nodes of its own. Here the replicas of their minutes are added, and
/// the nodes that hold them are counted: a node that was bought stays for an hour after it was needed.
void share_nodes(std::vector<ServicePlan>& services);

}  // namespace capstan::plan
