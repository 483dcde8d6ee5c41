#include "model/queue_fault.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/known_row.h"
#include "model/queue_path.h"

namespace capstan::model {

std::optional<Reason> fault_reason(std::span<const Queue> queues, QueueId queue) {
  QueueId child;
  for (const QueueId id : QueuePath(queues, queue)) {
    switch (known_row(queues, id.value).fault) {
      case QueueFault::none:
        break;
      case QueueFault::not_found:
        if (!child.valid()) return Reason{ReasonCode::queue_closed, {id.value}};
        return Reason{ReasonCode::queue_parent_missing, {child.value, id.value}};
      case QueueFault::parent_cycle:
        return Reason{ReasonCode::queue_parent_cycle, {id.value}};
    }
    child = id;
  }
  return std::nullopt;
}

std::optional<std::size_t> find_parent_cycle(std::span<const Queue> queues) {
  constexpr std::size_t kNotVisited = 0;
  std::vector<std::size_t> visited_from(queues.size(), kNotVisited);  // number of the walk that reached the queue
  for (std::size_t start = 0; start < queues.size(); ++start) {
    std::size_t at = start;
    while (visited_from[at] == kNotVisited) {
      visited_from[at] = start + 1;
      if (!queues[at].parent.valid()) break;
      at = queues[at].parent.value;
    }
    if (visited_from[at] != start + 1 || !queues[at].parent.valid()) continue;
    std::size_t lowest = at;
    for (std::size_t next = queues[at].parent.value; next != at; next = queues[next].parent.value) {
      lowest = std::min(lowest, next);
    }
    return lowest;
  }
  return std::nullopt;
}

}  // namespace capstan::model
