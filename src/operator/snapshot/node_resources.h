#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kube/node_views.h"
#include "kube/pod_view.h"
#include "model/resources.h"

namespace capstan::op {

/// Names of the extended resources that waiting pods ask for, such as MIG profiles. A name keeps its position.
class ExtendedResources {
 public:
  const std::vector<std::string>& names() const { return names_; }
  std::size_t position(std::string_view name);

 private:
  std::vector<std::string> names_;
};

/// Returns the resources other than GPUs that a pod requests, rounded up to the units of the model. Adds the names of
/// its extended resources to `extended`.
model::Resources requests_of(const kube::PodSpec& pod, ExtendedResources& extended);

/// Sums of the resources that pods hold on nodes, GPUs included.
class NodeUse {
 public:
  void add(const std::string& node, const kube::PodSpec& pod);
  /// Returns what the pods leave of a node's resources, rounded down and never below 0. A resource that the node does
  /// not state is 0, except pod slots, which are then unlimited.
  /// @param extended  the extended resources to return; the node's other extended resources are left out
  model::Resources left_on(const kube::Node& node, const ExtendedResources& extended) const;

 private:
  std::map<std::string, kube::Resources, std::less<>> used_;  ///< used resources by name of the node
};

}  // namespace capstan::op
