#include "experiment/run/full_queue.h"

#include <fmt/format.h>

#include "explain/words.h"
#include "model/queue_path.h"

namespace capstan::experiment {

std::string full_queue_words(const model::Catalog& catalog, const std::vector<MilliGpu>& held, model::QueueId queue,
                             MilliGpu gpus) {
  for (const model::QueueId id : model::QueuePath(catalog.queues, queue)) {
    const model::Queue& row = catalog.queue(id);
    if (!row.gpus.limit || held[id.value] + gpus <= *row.gpus.limit) continue;
    return fmt::format("queue {} holds {} of its {} GPUs", row.name, explain::gpus_text(held[id.value]),
                       explain::gpus_text(*row.gpus.limit));
  }
  return "";
}

}  // namespace capstan::experiment
