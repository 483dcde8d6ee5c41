#pragma once

#include <map>
#include <vector>

#include "model/ids.h"
#include "model/offering.h"
#include "model/resources.h"

namespace capstan::model {

/// Pods that ask for the same resources and may run on the same nodes.
struct PodClass {
  Resources requests{};              ///< of one pod, without its GPUs
  std::vector<bool> node_classes{};  ///< by NodeClassId: true if the labels and taints of such a node admit the pod
  friend bool operator==(const PodClass&, const PodClass&) = default;

  /// @param nodes  none: a node without a class, which admits every pod
  bool admits(NodeClassId nodes) const {
    return !nodes.valid() || (nodes.value < node_classes.size() && node_classes[nodes.value]);
  }
};

/// Where pods may run although GPUs are free in other places, too: pod class by node class. Nodes form a class if they
/// have the same taints and the same values of all labels that some pod asks for. A pod or a node without a class is
/// not restricted, so an empty value restricts nothing.
struct Eligibility {
  std::vector<PodClass> pod_classes{};
  std::map<Purchase, NodeClassId> purchases{};  ///< class of the nodes that a purchase brings; absent: no restriction
  friend bool operator==(const Eligibility&, const Eligibility&) = default;

  /// Returns null for pods without a class.
  const PodClass* find(PodClassId pods) const {
    return pods.value < pod_classes.size() ? &pod_classes[pods.value] : nullptr;
  }
  /// Returns what one pod needs beside GPUs; nothing for pods without a class.
  const Resources& requests(PodClassId pods) const {
    static const Resources kNothing;
    const PodClass* found = find(pods);
    return found == nullptr ? kNothing : found->requests;
  }
  /// Returns true if the pods may run on the nodes that the purchase brings.
  bool admits(PodClassId pods, const Purchase& purchase) const {
    const PodClass* found = find(pods);
    const auto nodes = purchases.find(purchase);
    return found == nullptr || nodes == purchases.end() || found->admits(nodes->second);
  }
};

}  // namespace capstan::model
