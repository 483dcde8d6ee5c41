#pragma once

#include <map>
#include <span>
#include <string>

#include "kube/node_views.h"
#include "kube/pod_view.h"
#include "kube/store.h"

namespace capstan::op {

/// Would the scheduler of Kubernetes let a pod onto a node with these labels and taints? Node selector, required node
/// affinity, and taints that keep pods out.
/// https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
bool admits(const kube::PodSpec& pod, const kube::StringMap& labels, std::span<const kube::Taint> taints);

/// What pods have left of the resources of nodes, by the node's name.
class FreeResources {
 public:
  explicit FreeResources(const kube::StoreSnapshot<kube::Pod>& pods);
  /// Does the node have the other resources for as many of `pods` such pods as its GPUs are enough for? One that has no
  /// GPU for them is not short of anything else.
  bool enough(const kube::Node& node, const kube::PodSpec& pod, std::int64_t pods) const;

 private:
  std::map<std::string, kube::Resources, std::less<>> used_;
};

}  // namespace capstan::op
