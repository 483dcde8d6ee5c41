#pragma once

#include <compare>
#include <cstdint>
#include <optional>

#include "base/quantity.h"
#include "model/ids.h"
#include "model/level.h"

namespace capstan::model {

/// Equal pods of a gang.
struct PodSet {
  GpuKindId gpu;
  std::int64_t count = 0;
  MilliGpu gpus_per_pod;
  PodClassId pod_class{};  ///< nodes that the pods may use and what they need besides GPUs; none: every node, only GPUs
  /// Pods that must have a node for the gang to be useful; 0: all of them.
  std::int64_t minimum = 0;
  friend auto operator<=>(const PodSet&, const PodSet&) = default;

  std::int64_t needed() const { return minimum > 0 ? minimum : count; }
};

/// The request of a gang: pods that are useful only together. A gang has one pod set. If the pods of a gang differ, the
/// set describes all of them by one pod, which asks for the largest amounts and may run only on nodes that admit every
/// pod.
struct GangSpec {
  PodSet pods;
  Level required_level = TopologyLevel::node;  ///< all pods must be inside one domain of this level
  /// Level at which all pods should be inside one domain; not wider than `required_level`. None: no preference.
  std::optional<Level> preferred{};
  friend auto operator<=>(const GangSpec&, const GangSpec&) = default;
};

}  // namespace capstan::model
