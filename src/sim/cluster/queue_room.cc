#include "sim/cluster/queue_room.h"

#include <algorithm>

namespace capstan::sim {

QueueRoom::QueueRoom(const model::Snapshot& rows) : queues_(rows.catalog->queues), held_(queues_.size()) {
  if (held_.empty()) return;
  rows.pods.for_each([&](model::PodId, const model::Pod& pod) {
    if (pod.node.valid()) hold(pod.queue, pod.gpus);
  });
}

std::optional<MilliGpu> QueueRoom::left(model::QueueId queue) const {
  std::optional<MilliGpu> least;
  for (; queue.valid(); queue = queues_[queue.value].parent) {
    const std::optional<MilliGpu>& limit = queues_[queue.value].gpus.limit;
    if (!limit) continue;
    const MilliGpu left = *limit - held_[queue.value];
    least = least ? std::min(*least, left) : left;
  }
  return least;
}

void QueueRoom::hold(model::QueueId queue, MilliGpu gpus) {
  for (; queue.valid(); queue = queues_[queue.value].parent) held_[queue.value] += gpus;
}

}  // namespace capstan::sim
