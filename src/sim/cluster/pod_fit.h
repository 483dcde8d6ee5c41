#pragma once

#include <cstdint>
#include <optional>

#include "model/catalog.h"
#include "model/gang_spec.h"
#include "model/node.h"

namespace capstan::sim {

/// Returns the class of the nodes that a purchase brings; none: they admit every pod.
inline model::NodeClassId node_class_of(const model::Catalog& catalog, const model::Purchase& purchase) {
  const auto found = catalog.eligibility.purchases.find(purchase);
  return found == catalog.eligibility.purchases.end() ? model::NodeClassId{} : found->second;
}

/// Returns how many of these pods a node takes by its labels, CPU and memory, at most `most`.
/// @param available  resources that the node has left; none: they limit no pod
inline std::int64_t pods_besides_gpus(const model::Catalog& catalog, const model::PodSet& pods,
                                      model::NodeClassId node_class, const std::optional<model::Resources>& available,
                                      std::int64_t most) {
  const model::PodClass* needs = catalog.eligibility.find(pods.pod_class);
  if (needs == nullptr) return most;
  if (!needs->admits(node_class)) return 0;
  return available ? model::times_in(needs->requests, *available, most) : most;
}

inline std::int64_t pods_besides_gpus(const model::Catalog& catalog, const model::PodSet& pods, const model::Node& node,
                                      std::int64_t most) {
  return pods_besides_gpus(catalog, pods, node.node_class, node.available, most);
}

}  // namespace capstan::sim
