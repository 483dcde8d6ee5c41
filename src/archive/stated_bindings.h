#pragma once

#include <map>

#include "model/snapshot.h"

// A pod without a node and a node with too few GPUs happen in a real cluster, and look like a file that lost a number.
// The writer states both in words, and the reader refuses a file that does not.
namespace capstan::archive {

/// True of a pod that runs on a node that is not in the snapshot, such as one without GPUs.
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

}  // namespace capstan::archive
