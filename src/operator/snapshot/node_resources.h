#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kube/node_views.h"
#include "kube/pod_view.h"
#include "kube/store.h"
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

/// The pods that hold resources on nodes.
class NodeUse {
 public:
  /// Adds a pod. The caller removes the pod before it changes, and before another pod gets its row.
  void add(const std::string& node, kube::RowId row, const kube::PodSpec& pod) { pods_[node][row] = &pod; }
  void remove(const std::string& node, kube::RowId row);

  /// Returns the rows of the pods that hold resources of a node, ascending.
  std::vector<kube::RowId> pods_on(std::string_view node) const;

  /// Returns the resources of a node that its pods leave free, rounded down and never below 0. A resource that the node
  /// does not state is 0, except pod slots, which are then unlimited.
  /// @param extended  the extended resources to return; the node's other extended resources are left out
  model::Resources left_on(const kube::Node& node, const ExtendedResources& extended) const;

 private:
  std::map<std::string, std::map<kube::RowId, const kube::PodSpec*>, std::less<>> pods_;  ///< pods by node name
};

}  // namespace capstan::op
