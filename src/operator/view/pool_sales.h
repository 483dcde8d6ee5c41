#pragma once

#include <set>
#include <string>
#include <vector>

#include "kube/node_views.h"
#include "operator/view/scaler_view.h"

namespace capstan::op {

/// A way to buy a node of a pool: every label that it will have as far as that is decided by buying it.
struct Sale {
  const FleetPolicy::InstanceType* type = nullptr;
  std::string zone;      ///< empty: wherever the pool puts it
  std::string capacity;  ///< "on-demand", "spot" or "reserved"
  kube::StringMap labels;
};

/// What a NodePool sells: each instance type that the FleetPolicy describes and the pool allows, in each zone, by each
/// capacity type; reserved before on-demand before spot. Nothing for a pool that is static, not ready or on its way
/// out.
/// @param zones  in which nodes were seen: for a pool that does not restrict them
std::vector<Sale> sales_of(const kube::NodePool& pool, const std::vector<FleetPolicy::InstanceType>& types,
                           const std::set<std::string>& zones);

}  // namespace capstan::op
