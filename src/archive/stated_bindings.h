#pragma once

#include <cstdint>
#include <map>

#include "model/snapshot.h"

// A running pod without a node, and a node with too few GPUs for its pods, occur in real clusters, but they also look
// like a damaged file. The writer therefore marks both with a flag, and the reader refuses them without the flag.
namespace capstan::archive {

/// Returns true if the pod runs on a node that is not in the snapshot, such as a node without GPUs.
inline bool runs_without_node(const model::Pod& pod) {
  const bool runs = pod.phase == model::Pod::Phase::starting || pod.phase == model::Pod::Phase::ready;
  return runs && !pod.node.valid();
}

/// Returns the GPUs that pods hold, by node. Nodes without pods that hold GPUs are absent.
inline std::map<model::NodeId, MilliGpu> bound_gpus(const model::Snapshot& snapshot) {
  std::map<model::NodeId, MilliGpu> bound;
  snapshot.pods.for_each([&](model::PodId, const model::Pod& pod) {
    if (pod.node.valid() && pod.gpus > MilliGpu{}) bound[pod.node] += pod.gpus;
  });
  return bound;
}

/// Returns, by node, a device that a pod of the node holds and that the node no longer has.
inline std::map<model::NodeId, std::uint16_t> vanished_devices(const model::Snapshot& snapshot) {
  std::map<model::NodeId, std::uint16_t> vanished;
  snapshot.pods.for_each([&](model::PodId, const model::Pod& pod) {
    const model::Node* node = pod.node.valid() ? snapshot.nodes.find(pod.node) : nullptr;
    for (const std::uint16_t device : pod.devices) {
      if (node != nullptr && device >= gpus_up(node->gpus)) vanished.try_emplace(pod.node, device);
    }
  });
  return vanished;
}

}  // namespace capstan::archive
