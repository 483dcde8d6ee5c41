#include "experiment/run/full_queue.h"

#include <fmt/format.h>

#include "explain/words.h"

namespace capstan::experiment {

std::string full_queue_words(const model::Catalog& catalog, const std::vector<MilliGpu>& held, model::QueueId queue,
                             MilliGpu gpus) {
  for (; queue.valid(); queue = catalog.queue(queue).parent) {
    const model::Queue& row = catalog.queue(queue);
    if (!row.gpus.limit || held[queue.value] + gpus <= *row.gpus.limit) continue;
    return fmt::format("queue {} holds {} of its {} GPUs", row.name, explain::gpus_text(held[queue.value]),
                       explain::gpus_text(*row.gpus.limit));
  }
  return "";
}

}  // namespace capstan::experiment
