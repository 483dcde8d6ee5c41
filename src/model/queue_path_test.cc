#include "model/queue_path.h"

#include <gtest/gtest.h>

#include <vector>

namespace capstan::model {
namespace {

std::vector<QueueId> path(const std::vector<Queue>& queues, QueueId first) {
  std::vector<QueueId> ids;
  for (const QueueId id : QueuePath(queues, first)) ids.push_back(id);
  return ids;
}

TEST(QueuePath, LeadsFromAQueueToTheTopOfItsTree) {
  const std::vector<Queue> queues = {{.name = "all", .gpus = {}},
                                     {.name = "other", .gpus = {}},
                                     {.name = "team", .parent = {0}, .gpus = {}},
                                     {.name = "person", .parent = {2}, .gpus = {}}};
  EXPECT_EQ(path(queues, {3}), (std::vector<QueueId>{{3}, {2}, {0}}));
  EXPECT_EQ(path(queues, {1}), (std::vector<QueueId>{{1}}));
  EXPECT_EQ(path(queues, {}), std::vector<QueueId>{}) << "no queue";
}

}  // namespace
}  // namespace capstan::model
