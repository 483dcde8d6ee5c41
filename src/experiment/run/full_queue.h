#pragma once

#include <string>
#include <vector>

#include "base/quantity.h"
#include "model/snapshot.h"

namespace capstan::experiment {

/// Returns the first queue, from `queue` upwards, whose limit has no room for `gpus`: "queue batch holds 24 of its
/// 24 GPUs"; empty if all have room.
/// @param held  the GPUs that each queue of the catalog holds, with those of the queues below it
std::string full_queue_words(const model::Catalog& catalog, const std::vector<MilliGpu>& held, model::QueueId queue,
                             MilliGpu gpus);

}  // namespace capstan::experiment
