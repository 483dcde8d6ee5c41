#include "model/queue_fault.h"

#include <gtest/gtest.h>

#include <vector>

namespace capstan::model::queue_fault_test {
namespace {

/// Returns queues with these parents, by position; -1: no parent.
std::vector<Queue> queues_with(const std::vector<int>& parents) {
  std::vector<Queue> queues;
  for (const int parent : parents) {
    queues.push_back({.name = "q", .parent = parent < 0 ? QueueId{} : QueueId{static_cast<std::uint32_t>(parent)}});
  }
  return queues;
}

TEST(QueueFault, TheReasonNamesTheQueueAtFault) {
  std::vector<Queue> queues = queues_with({-1, 0, 1});
  EXPECT_EQ(fault_reason(queues, {2}), std::nullopt);
  EXPECT_EQ(fault_reason(queues, {}), std::nullopt);
  queues[0].fault = QueueFault::not_found;
  EXPECT_EQ(fault_reason(queues, {0}), (Reason{ReasonCode::queue_closed, {0}}));
  EXPECT_EQ(fault_reason(queues, {2}), (Reason{ReasonCode::queue_parent_missing, {1, 0}}))
      << "queue 1 states the parent that does not exist";
  queues[0].fault = QueueFault::parent_cycle;
  EXPECT_EQ(fault_reason(queues, {2}), (Reason{ReasonCode::queue_parent_cycle, {0}}));
}

TEST(QueueFault, ACycleIsFoundByTheLowestOfItsQueues) {
  EXPECT_EQ(find_parent_cycle({}), std::nullopt);
  EXPECT_EQ(find_parent_cycle(queues_with({-1, 0, 1, 0})), std::nullopt);
  EXPECT_EQ(find_parent_cycle(queues_with({2, 2, -1})), std::nullopt) << "a parent may follow its children";
  EXPECT_EQ(find_parent_cycle(queues_with({0})), 0U);
  EXPECT_EQ(find_parent_cycle(queues_with({3, -1, 4, 4, 2})), 2U) << "queue 0 leads into the cycle of 2 and 4";
  EXPECT_EQ(find_parent_cycle(queues_with({2, 0, 1})), 0U);
}

}  // namespace
}  // namespace capstan::model::queue_fault_test
