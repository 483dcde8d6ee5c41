#pragma once

#include <optional>
#include <string>

#include "base/quantity.h"
#include "model/ids.h"

namespace capstan::model {

/// A limit on the GPUs that a group of workloads may hold. Queues form a tree in which parents have lower ids than
/// their children. This is the limit of a KAI Queue, without its quota and priority:
/// https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/queues/README.md
struct Queue {
  std::string name;
  QueueId parent;                 ///< queue above it; none: the queue is at the top of the tree
  std::optional<MilliGpu> limit;  ///< GPUs that its pods and those of all queues below it may hold together
  /// True: no object describes this queue, its parent does not exist, or its parents form a loop. No pod of this queue
  /// or of a queue below it is placed.
  bool closed = false;
  friend bool operator==(const Queue&, const Queue&) = default;
};

}  // namespace capstan::model
