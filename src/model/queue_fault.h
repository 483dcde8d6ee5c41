#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "model/ids.h"
#include "model/queue.h"
#include "model/reason.h"

namespace capstan::model {

/// Returns the reason why no pod of the queue is placed: it or a queue above it has a fault. The reason names the queue
/// at fault. Returns nothing if the queue is sound.
std::optional<Reason> fault_reason(std::span<const Queue> queues, QueueId id);

/// Returns a queue whose parents lead back to it: the one with the lowest position in its loop. Returns nothing if the
/// queues form a tree.
std::optional<std::size_t> find_parent_cycle(std::span<const Queue> queues);

}  // namespace capstan::model
