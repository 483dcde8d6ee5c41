#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kube/node_views.h"
#include "model/offering.h"
#include "operator/view/scaler_view.h"

namespace capstan::op {

/// A way to buy a node of a pool, with the labels that the purchase determines.
struct PurchaseOption {
  const FleetPolicy::InstanceType* type = nullptr;
  std::string zone;      ///< zone of the node; empty: any zone of the pool
  std::string capacity;  ///< "on-demand", "spot" or "reserved"
  kube::StringMap labels;
};

/// The largest allocatable amounts of the existing nodes of an instance type; 0: there is no such node.
struct NodeSize {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  std::int64_t storage_mib = 0;
  std::int64_t pod_slots = 0;
  friend bool operator==(const NodeSize&, const NodeSize&) = default;
};

/// Returns an instance type with its resources. An amount that the FleetPolicy does not state is that of the machine in
/// data/instances.csv, or else that of the existing nodes of the type. The system needs a part of the machine, so pods
/// may get less than these amounts. The amounts therefore exclude only pods that can never fit.
model::InstanceType with_resources(const FleetPolicy::InstanceType& type, const NodeSize& existing);

/// Returns the amounts of extended resources of the nodes of a type. A type has none of a resource that it does not
/// state, if it states others or if another type states this one. Otherwise the amount is not known and counts as
/// unlimited. Two pools may divide the GPUs of one machine type differently, so existing nodes show no amounts.
/// @param names  the resources, in the order of the result
/// @return none if no amount is known
std::optional<std::vector<std::int64_t>> extended_of(const FleetPolicy::InstanceType& type,
                                                     const std::vector<FleetPolicy::InstanceType>& all,
                                                     const std::vector<std::string>& names);

/// Returns what a NodePool sells: each instance type that the FleetPolicy describes and the pool allows, in each zone
/// and capacity type, reserved before on-demand before spot. A pool that is static, not ready or being deleted sells
/// nothing.
/// @param zones  zones of the existing nodes, for a pool that does not restrict zones
std::vector<PurchaseOption> purchase_options(const kube::NodePool& pool,
                                             const std::vector<FleetPolicy::InstanceType>& types,
                                             const std::set<std::string>& zones);

}  // namespace capstan::op
