#include "sim/cluster/queue_room.h"

#include <gtest/gtest.h>

#include <memory>

namespace capstan::sim {
namespace {

TEST(QueueRoom, TheSmallestRoomOnTheWayToTheRootCounts) {
  model::Catalog catalog;
  catalog.queues.resize(3);
  catalog.queues[0].gpus.limit = whole_gpus(10);
  catalog.queues[1].parent = {0};
  catalog.queues[1].gpus.limit = whole_gpus(6);
  model::Snapshot rows;
  rows.catalog = std::make_shared<const model::Catalog>(std::move(catalog));
  model::Pod pod;
  pod.queue = {1};
  pod.gpus = whole_gpus(4);
  rows.pods.set({0}, pod);
  pod.node = {0};
  rows.pods.set({1}, pod);

  QueueRoom room(rows);
  EXPECT_EQ(room.held(), (std::vector{whole_gpus(4), whole_gpus(4), MilliGpu{}}))
      << "a pod without a node holds nothing";
  EXPECT_EQ(room.left({1}), whole_gpus(2));
  room.hold({0}, whole_gpus(5));
  EXPECT_EQ(room.left({1}), whole_gpus(1)) << "now the parent has less room";
  room.hold({1}, whole_gpus(3));
  EXPECT_EQ(room.left({1}), whole_gpus(-2));
  EXPECT_EQ(room.left({2}), std::nullopt);
  EXPECT_EQ(room.left({}), std::nullopt);
}

}  // namespace
}  // namespace capstan::sim
