#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/quantity.h"
#include "base/time.h"
#include "model/ids.h"

namespace capstan::model {

/// The rights of a queue to one resource, for its pods and those of all queues below it.
template <typename Amount>
struct QueueShare {
  std::optional<Amount> limit{};  ///< most that they may hold together; none: only the limits of queues above apply
  Amount quota{};                 ///< amount that is guaranteed to them; 0: no guarantee
  /// Weight of the queue when it and its siblings share the amount that their quotas leave, thousandths; 0: the queue
  /// gets no share of that amount.
  std::int64_t weight_milli = 0;
  friend bool operator==(const QueueShare&, const QueueShare&) = default;
};

/// The defect of a queue. As long as a queue has a defect, no pod of this queue or of a queue below it is placed.
enum class QueueFault : std::uint8_t {
  none,
  not_found,     ///< no object describes it, although pods or another queue name it
  parent_cycle,  ///< its parents form a loop; the row states no parent, so that the tree has no loop
};

/// The rights of a group of workloads to resources. Queues form a tree. Decisions use only the limits of GPUs; the
/// other fields are those of a KAI Queue:
/// https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/queues/README.md
struct Queue {
  std::string name;  ///< empty: the queue was deleted, and its id is free for another one
  QueueId parent{};  ///< queue above it; none: the queue is at the top of the tree
  QueueShare<MilliGpu> gpus{};
  QueueShare<std::int64_t> cpu_milli{};
  QueueShare<std::int64_t> memory_mib{};
  /// Priority of the queue: the amount that the quotas leave goes to the siblings with the highest priority first.
  std::int64_t priority = 0;
  std::optional<Duration> preempt_min_runtime{};  ///< time that a pod runs before its own queue may preempt it
  std::optional<Duration> reclaim_min_runtime{};  ///< time that a pod runs before another queue may reclaim it
  QueueFault fault = QueueFault::none;
  friend bool operator==(const Queue&, const Queue&) = default;
};

}  // namespace capstan::model
