#pragma once

#include <map>

#include "model/snapshot.h"

// Two things that pods say of nodes and that a snapshot file states in words, because a file that lost a node or a GPU
// by mistake would read the same.
namespace capstan::archive {

/// True of a pod that runs on a node that is not in the snapshot, such as one without GPUs.
inline bool runs_without_node(const model::Pod& pod) {
  const bool runs = pod.phase == model::Pod::Phase::starting || pod.phase == model::Pod::Phase::ready;
  return runs && !pod.node.valid();
}

/// Returns the GPUs that pods hold, by node; no node that holds nothing.
inline std::map<model::NodeId, MilliGpu> bound_gpus(const model::Snapshot& snapshot) {
  std::map<model::NodeId, MilliGpu> bound;
  snapshot.pods.for_each([&](model::PodId, const model::Pod& pod) {
    if (pod.node.valid() && pod.gpus > MilliGpu{}) bound[pod.node] += pod.gpus;
  });
  return bound;
}

}  // namespace capstan::archive
