#include "experiment/run/full_queue.h"

#include <gtest/gtest.h>

namespace capstan::experiment {
namespace {

/// Queue `all` with sixteen GPUs holds twelve of them, and `batch` below it has no limit.
TEST(FullQueue, NamesTheFirstQueueUpwardsWithoutRoom) {
  model::Catalog catalog;
  model::Queue all, batch;
  all.name = "all";
  all.gpus.limit = whole_gpus(16);
  batch.name = "batch";
  batch.parent = {0};
  catalog.queues = {all, batch};
  const std::vector<MilliGpu> held = {whole_gpus(12), whole_gpus(4)};

  EXPECT_EQ(full_queue_words(catalog, held, {1}, whole_gpus(4)), "");
  EXPECT_EQ(full_queue_words(catalog, held, {1}, whole_gpus(5)), "queue all holds 12 of its 16 GPUs");
  catalog.queues[1].gpus.limit = whole_gpus(4);
  EXPECT_EQ(full_queue_words(catalog, held, {1}, whole_gpus(1)), "queue batch holds 4 of its 4 GPUs");
  EXPECT_EQ(full_queue_words(catalog, held, {}, whole_gpus(100)), "") << "no queue";
}

}  // namespace
}  // namespace capstan::experiment
