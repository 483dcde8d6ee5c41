#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "kube/common_views.h"
#include "kube/resource.h"

namespace capstan::op {

/// What is read of a Queue (schema/crds/queue.yaml).
struct Queue {
  kube::Meta meta;
  std::string parent;             ///< empty: it is at the top
  std::optional<MilliGpu> limit;  ///< none: it has none of its own
  std::vector<kube::Condition> conditions;
};

Queue read_queue(kube::Json object);

/// The most that a limit may be, as the schema says.
inline constexpr GpuCount kMostHeld = 10'000'000;

/// The label of pods, and of templates of pods, that names a Queue; and the one that names a Queue of KAI's.
/// https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/queues/README.md
inline constexpr std::string_view kQueueLabel = "capstan.dev/queue";
inline constexpr std::string_view kKaiQueueLabel = "kai.scheduler/queue";

inline const kube::Resource kQueues{"capstan.dev", "v1alpha1", "queues", "Queue", false};

}  // namespace capstan::op
