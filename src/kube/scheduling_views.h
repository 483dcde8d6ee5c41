#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "kube/common_views.h"

namespace capstan::kube {

struct PriorityClass {
  Meta meta;
  std::int64_t value = 0;
  bool global_default = false;
  bool preempts = true;  ///< preemptionPolicy is not Never
  friend bool operator==(const PriorityClass&, const PriorityClass&) = default;
};

PriorityClass read_priority_class(Json object);

struct TopologyConstraint {
  std::string topology;
  std::string required_level;
  std::string preferred_level;
  friend bool operator==(const TopologyConstraint&, const TopologyConstraint&) = default;
};

/// A PodGroup of KAI, which is a gang (scheduling.run.ai/v2alpha2).
struct KaiPodGroup {
  struct SubGroup {
    std::string name;
    std::string parent;
    std::int64_t min_member = 0;
    TopologyConstraint topology;
    friend bool operator==(const SubGroup&, const SubGroup&) = default;
  };

  Meta meta;
  std::int64_t min_member = 0;
  std::string queue;
  std::string priority_class;
  std::string preemptibility;
  std::optional<Duration> staleness_grace;
  TopologyConstraint topology;
  std::vector<SubGroup> sub_groups;
  friend bool operator==(const KaiPodGroup&, const KaiPodGroup&) = default;
};

KaiPodGroup read_kai_pod_group(Json object);

/// A Queue of KAI (scheduling.run.ai/v2).
struct KaiQueue {
  static constexpr std::int64_t kUnlimited = -1'000;  ///< KAI writes -1 for "no limit" and for "everything"
  static constexpr std::int64_t kDefaultPriority = 100;

  /// Rights to one resource, in 1/1000 of KAI's unit: GPUs, millicores of CPU, megabytes of memory.
  struct Share {
    std::int64_t quota_milli = 0;
    std::int64_t limit_milli = 0;
    std::int64_t weight_milli = 0;
    friend bool operator==(const Share&, const Share&) = default;
  };

  Meta meta;
  std::string parent;
  std::int64_t priority = kDefaultPriority;
  Share gpu;
  Share cpu;
  Share memory;
  std::optional<Duration> preempt_min_runtime;
  std::optional<Duration> reclaim_min_runtime;
  friend bool operator==(const KaiQueue&, const KaiQueue&) = default;
};

KaiQueue read_kai_queue(Json object);

}  // namespace capstan::kube
