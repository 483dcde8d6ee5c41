#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/quantity.h"
#include "model/ids.h"
#include "model/level.h"

namespace capstan::model {

/// Equal pods of a gang.
struct PodSet {
  GpuKindId gpu;
  std::int64_t count = 0;
  MilliGpu gpus_per_pod;   ///< 0: the pods need no GPUs and may run on nodes of every GPU kind
  PodClassId pod_class{};  ///< allowed nodes and needs besides GPUs; none: every node is allowed, no other needs
  /// Pods that must have a node for the gang to be useful; 0: all of them.
  std::int64_t minimum = 0;
  friend auto operator<=>(const PodSet&, const PodSet&) = default;

  std::int64_t needed() const { return minimum > 0 ? minimum : count; }
  MilliGpu gpus() const { return gpus_per_pod * count; }
};

/// Most pod sets of a gang.
inline constexpr std::size_t kMaxPodSets = 8;

/// The request of a gang: pods that are useful only together. Most gangs have one pod set. Others have several, for
/// example a leader without GPUs and its workers.
struct GangSpec {
  PodSet pods;                                 ///< the pods with the most GPUs; most gangs have no others
  Level required_level = TopologyLevel::node;  ///< all pods must be inside one domain of this level
  /// Level at which all pods should be inside one domain; not wider than `required_level`. None: no preference.
  std::optional<Level> preferred{};
  /// Gangs with a higher priority are served first: they take room, nodes on their way and new nodes before others.
  std::int32_t priority = 0;
  QueueId queue{};                   ///< queue of its pods, as the first pod states it; none: no queue limits them
  bool preemptible = false;          ///< true: its pods may be ended for a gang with a higher priority
  std::vector<PodSet> other_pods{};  ///< further sets, those with more GPUs first; at most `kMaxPodSets` - 1
  friend auto operator<=>(const GangSpec&, const GangSpec&) = default;

  std::size_t sets() const { return 1 + other_pods.size(); }
  /// Returns a set by its number (model::Pod::set). An unknown number stands for set 0.
  const PodSet& set(std::size_t number) const {
    return number == 0 || number > other_pods.size() ? pods : other_pods[number - 1];
  }
  PodSet& set(std::size_t number) { return number == 0 || number > other_pods.size() ? pods : other_pods[number - 1]; }
  /// Returns the pods of all sets.
  std::int64_t count() const {
    std::int64_t all = pods.count;
    for (const PodSet& other : other_pods) all += other.count;
    return all;
  }
  /// Returns the pods of all sets that must have a node for the gang to be useful.
  std::int64_t needed() const {
    std::int64_t all = pods.needed();
    for (const PodSet& other : other_pods) all += other.needed();
    return all;
  }
  /// Returns the GPUs of all pods.
  MilliGpu gpus() const {
    MilliGpu all = pods.gpus();
    for (const PodSet& other : other_pods) all += other.gpus();
    return all;
  }
};

}  // namespace capstan::model
