#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "kube/node_views.h"
#include "operator/view/purchase_options.h"

namespace capstan::op {

/// The allocatable resources of the existing nodes, by instance type. A type of the same name with another number
/// of GPUs is another one.
class NodeSizes {
 public:
  void add(const kube::Node& node);
  /// Removes a node that was added.
  void remove(const kube::Node& node);
  /// Returns the largest amounts among the nodes of a type.
  NodeSize largest(const FleetPolicy::InstanceType& type) const;

 private:
  using Type = std::pair<std::string, GpuCount>;  // name, GPUs
  struct Amounts {
    std::multiset<std::int64_t> cpu_milli;
    std::multiset<std::int64_t> memory_mib;
    std::multiset<std::int64_t> storage_mib;
    std::multiset<std::int64_t> pod_slots;
  };
  static Type type_of(const kube::Node& node);

  std::map<Type, Amounts> by_type_;
};

}  // namespace capstan::op
