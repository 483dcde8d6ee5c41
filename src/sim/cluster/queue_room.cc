#include "sim/cluster/queue_room.h"

#include <algorithm>

#include "model/queue_path.h"

namespace capstan::sim {

QueueRoom::QueueRoom(const model::Snapshot& rows) : queues_(rows.catalog->queues), held_(queues_.size()) {
  if (held_.empty()) return;
  rows.pods.for_each([&](model::PodId, const model::Pod& pod) {
    if (pod.node.valid()) hold(pod.queue, pod.gpus);
  });
}

std::optional<MilliGpu> QueueRoom::left(model::QueueId queue) const {
  std::optional<MilliGpu> least;
  for (const model::QueueId id : model::QueuePath(queues_, queue)) {
    const std::optional<MilliGpu>& limit = queues_[id.value].gpus.limit;
    if (!limit) continue;
    const MilliGpu left = *limit - held_[id.value];
    least = least ? std::min(*least, left) : left;
  }
  return least;
}

void QueueRoom::hold(model::QueueId queue, MilliGpu gpus) {
  for (const model::QueueId id : model::QueuePath(queues_, queue)) held_[id.value] += gpus;
}

}  // namespace capstan::sim
