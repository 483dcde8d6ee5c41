#pragma once

#include <optional>
#include <string>

#include "base/quantity.h"
#include "model/ids.h"

namespace capstan::model {

/// What workloads are put into so that they do not take more of the fleet than is theirs; queues form a tree, in which
/// parents have lower ids than their children. What KAI calls a Queue, as far as it is a limit:
/// https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/queues/README.md
struct Queue {
  std::string name;
  QueueId parent;                 ///< none: at the top
  std::optional<MilliGpu> limit;  ///< what its pods and those of all queues below it hold together at most
  bool closed = false;            ///< nobody described it, or a queue above it: nothing of it is placed
  friend bool operator==(const Queue&, const Queue&) = default;
};

}  // namespace capstan::model
