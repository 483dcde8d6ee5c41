#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/gang_spec.h"
#include "model/ids.h"
#include "model/offering.h"
#include "model/pod_rule.h"
#include "model/resources.h"

namespace capstan::model {

/// Pods that ask for the same resources and may run on the same nodes.
struct PodClass {
  Resources requests{};  ///< resources of one pod, without its GPUs
  /// By NodeClassId: true if nodes of this class admit the pod by their labels and taints.
  std::vector<bool> node_classes{};
  /// Rule because of which Capstan does not place the pods, so that no node admits them.
  PodRule unsupported = PodRule::none;
  /// By NodeClassId: true if nodes of this class would admit the pods, but running pods with a required anti-affinity
  /// to them keep them away. Empty: there are no such nodes.
  std::vector<bool> kept_apart{};
  std::string kept_apart_by{};  ///< one of these running pods, by namespace and name; empty: none
  friend bool operator==(const PodClass&, const PodClass&) = default;

  /// @param nodes  none: a node without a class, which admits every pod
  bool admits(NodeClassId nodes) const {
    if (unsupported != PodRule::none) return false;
    return !nodes.valid() || (nodes.value < node_classes.size() && node_classes[nodes.value]);
  }
};

/// The nodes on which pods may run, by pod class and node class. Nodes form a class if they have the same taints and
/// the same values of all labels that some pod asks for. A pod or a node without a class is not restricted, so an empty
/// `Eligibility` restricts nothing.
struct Eligibility {
  std::vector<PodClass> pod_classes{};
  std::map<Purchase, NodeClassId> purchases{};  ///< class of the purchased nodes; absent: no restriction
  friend bool operator==(const Eligibility&, const Eligibility&) = default;

  /// Returns the class with this id, or null for pods without a class.
  const PodClass* find(PodClassId pods) const {
    return pods.value < pod_classes.size() ? &pod_classes[pods.value] : nullptr;
  }
  /// Returns the resources that one pod needs besides GPUs; all are 0 for pods without a class.
  const Resources& requests(PodClassId pods) const {
    static const Resources kNothing;
    const PodClass* found = find(pods);
    return found == nullptr ? kNothing : found->requests;
  }
  /// Returns the first rule because of which Capstan does not place the pods of a gang.
  PodRule unsupported_rule(const GangSpec& spec) const {
    for (std::size_t set = 0; set < spec.sets(); ++set) {
      const PodClass* found = find(spec.set(set).pod_class);
      if (found != nullptr && found->unsupported != PodRule::none) return found->unsupported;
    }
    return PodRule::none;
  }
  /// Returns true if the pods may run on the nodes that the purchase brings.
  bool admits(PodClassId pods, const Purchase& purchase) const {
    const PodClass* found = find(pods);
    const auto nodes = purchases.find(purchase);
    return found == nullptr || found->admits(nodes == purchases.end() ? NodeClassId() : nodes->second);
  }
};

}  // namespace capstan::model
