#pragma once

#include <span>

#include "kube/node_views.h"
#include "kube/pod_view.h"

namespace capstan::op {

/// Returns true if a pod's node selector, required node affinity and tolerations allow it on a node with these labels
/// and taints. https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
bool admits(const kube::PodSpec& pod, const kube::StringMap& labels, std::span<const kube::Taint> taints);

}  // namespace capstan::op
