#include "operator/view/queue_view.h"

#include <algorithm>

namespace capstan::op {

Queue read_queue(kube::Json object) {
  const kube::Json spec = object["spec"];
  Queue queue;
  queue.meta = kube::read_meta(object);
  queue.parent = std::string(spec["parent"].text());
  if (const kube::Json limit = spec["gpus"]["limit"]; limit.exists()) {
    queue.limit = whole_gpus(std::clamp<GpuCount>(limit.integer(), 0, kMaxQueueLimit));
  }
  queue.conditions = kube::read_conditions(object["status"]["conditions"]);
  return queue;
}

}  // namespace capstan::op
