#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "kube/common_views.h"
#include "kube/resource.h"

namespace capstan::op {

/// The fields of a Queue that Capstan reads (schema/crds/queue.yaml).
struct Queue {
  kube::Meta meta;
  std::string parent;             ///< name of the queue above; empty: the queue is a root
  std::optional<MilliGpu> limit;  ///< most GPUs; none: only the limits of its ancestors apply
  std::vector<kube::Condition> conditions;
  friend bool operator==(const Queue&, const Queue&) = default;
};

Queue read_queue(kube::Json object);

/// The largest limit that the schema allows.
inline constexpr GpuCount kMaxQueueLimit = 10'000'000;

/// Labels of pods and of pod templates that name a Queue of Capstan and a Queue of KAI.
/// https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/queues/README.md
inline constexpr std::string_view kQueueLabel = "capstan.dev/queue";
inline constexpr std::string_view kKaiQueueLabel = "kai.scheduler/queue";

/// Label that states whether KAI may preempt a pod for pods with a higher priority.
/// https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/priority/README.md
inline constexpr std::string_view kKaiPreemptibilityLabel = "kai.scheduler/preemptibility";

inline const kube::Resource kQueues{"capstan.dev", "v1alpha1", "queues", "Queue", false};

}  // namespace capstan::op
