#pragma once

#include "kube/node_views.h"
#include "model/pool.h"

namespace capstan::op {

/// Returns the limits, the weight and the budgets of a NodePool, without its name and its offerings. Budgets that are
/// not for empty nodes are left out, because Capstan gives back only empty ones. A budget whose number
/// of nodes cannot be read allows no node to terminate, as in Karpenter.
model::Pool pool_rules(const kube::NodePool& pool);

}  // namespace capstan::op
