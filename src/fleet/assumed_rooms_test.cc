#include "fleet/assumed_rooms.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>

#include "fleet/index.h"
#include "fleet/testing/world.h"

namespace capstan::fleet {
namespace {

using testing::World;

AssumedPod assumed(PodId pod, NodeId node, std::int64_t gpus, QueueId queue = {}) {
  return {.pod = pod,
          .node = node,
          .gpus = whole_gpus(gpus),
          .pod_class = {},
          .queue = queue,
          .queue_gpus = whole_gpus(gpus)};
}

/// A world with one node, its index, and an update of the assumed rooms.
struct OneNode {
  OneNode() : node(world.node(0)), index(build(world.snapshot)) {}
  MilliGpu free_after(std::vector<AssumedPod> pods, std::vector<NodeId> leaving = {}) {
    index.assumed.update(index.rooms, world.snapshot.catalog->eligibility, std::move(pods), leaving);
    const NodeRoom* room = index.assumed.rooms().find(node);
    return room == nullptr ? MilliGpu{-1} : room->free.sum;
  }

  World world;
  NodeId node;
  Index index;
};

TEST(AssumedRooms, ABindingTakesItsRoomOnceAndGivesItBackWhenItIsNoLongerAssumed) {
  OneNode one;
  const AssumedPod pod = assumed({0}, one.node, 3);
  EXPECT_EQ(one.free_after({pod}), whole_gpus(5));
  const std::uint64_t version = one.index.assumed.version();
  EXPECT_EQ(one.free_after({pod}), whole_gpus(5));
  EXPECT_EQ(one.index.assumed.version(), version) << "nothing changed";
  EXPECT_EQ(one.free_after({pod, assumed({1}, one.node, 6)}), whole_gpus(5)) << "there is no room for the second pod";
  EXPECT_EQ(one.free_after({}), whole_gpus(8));
}

TEST(AssumedRooms, RoomThatWasTakenIsGivenBackByTheNextUpdate) {
  OneNode one;
  one.free_after({});
  one.index.assumed.take(one.node, whole_gpus(2), {});
  EXPECT_EQ(one.index.assumed.rooms().find(one.node)->free.sum, whole_gpus(6));
  EXPECT_EQ(one.index.rooms.find(one.node)->free.sum, whole_gpus(8)) << "the index keeps its rooms";
  EXPECT_EQ(one.free_after({}), whole_gpus(8));
}

TEST(AssumedRooms, ANodeThatIsBeingGivenBackHasNoRoom) {
  OneNode one;
  EXPECT_EQ(one.free_after({}, {one.node}), MilliGpu{-1});
  EXPECT_EQ(one.free_after({}), whole_gpus(8));
}

TEST(AssumedRooms, TheLayoutChangesOnlyWithMoreThanTheFreeRoom) {
  OneNode one;
  one.free_after({});
  const std::uint64_t layout = one.index.assumed.layout();
  one.free_after({assumed({0}, one.node, 3)});
  EXPECT_EQ(one.index.assumed.layout(), layout);
  one.free_after({}, {one.node});
  EXPECT_NE(one.index.assumed.layout(), layout);
}

TEST(AssumedRooms, QueuesHoldTheirAssumedPods) {
  OneNode one;
  one.free_after({assumed({0}, one.node, 3, {7}), assumed({1}, one.node, 2, {7})});
  EXPECT_EQ(one.index.assumed.gpus_by_queue().at({7}), whole_gpus(5));
  EXPECT_TRUE(one.index.assumed.has({1}));
  one.free_after({assumed({0}, one.node, 3, {7})});
  EXPECT_EQ(one.index.assumed.gpus_by_queue().at({7}), whole_gpus(3));
  EXPECT_FALSE(one.index.assumed.has({1}));
}

TEST(AssumedRooms, AChangeIsKeptUntilTooManyFollow) {
  OneNode one;
  one.free_after({});
  const std::uint64_t version = one.index.assumed.version();
  one.index.assumed.take(one.node, whole_gpus(1), {});
  ASSERT_TRUE(one.index.assumed.changes_since(version));
  ASSERT_EQ(one.index.assumed.changes_since(version)->size(), 1u);
  EXPECT_EQ(one.index.assumed.changes_since(version)->front().node, one.node);
  for (int i = 0; i < 5'000; ++i) one.index.assumed.take(one.node, {}, {});
  EXPECT_FALSE(one.index.assumed.changes_since(version));
}

TEST(AssumedRooms, OtherRequestsOfAPodClassChangeTheRoomAndEndAllRefusals) {
  World world;
  const NodeId node = world.node(0);
  world.set_available(node, {.cpu_milli = 10'000});
  AssumedPod pod = assumed({0}, node, 1);
  pod.pod_class = world.pod_class({}, {.cpu_milli = 1'000});
  Index index = build(world.snapshot);
  const auto cpu_with = [&](std::int64_t request) {
    model::Delta delta;
    auto catalog = std::make_shared<model::Catalog>(*world.snapshot.catalog);
    catalog->eligibility.pod_classes.front().requests.cpu_milli = request;
    delta.catalog = model::changes_between(*world.snapshot.catalog, *catalog);
    world.snapshot.catalog = catalog;
    apply(index, world.snapshot, delta);
    index.assumed.update(index.rooms, catalog->eligibility, {pod}, {});
    return index.assumed.rooms().find(node)->available->cpu_milli;
  };
  EXPECT_EQ(cpu_with(1'000), 9'000);
  index.assumed.refusals.rows[{}] = {};
  EXPECT_EQ(cpu_with(1'000), 9'000);
  EXPECT_EQ(index.assumed.refusals.rows.size(), 1u) << "the other catalog is equal";
  EXPECT_EQ(cpu_with(3'000), 7'000);
  EXPECT_TRUE(index.assumed.refusals.rows.empty());
}

std::vector<AssumedPod> random_pods(const World& world) {
  std::vector<AssumedPod> pods;
  for (std::uint32_t p = 0; p < world.next_pod; ++p) {
    if (*rc::gen::inRange(0, 3) > 0) continue;
    AssumedPod pod = assumed({p}, {*rc::gen::inRange<std::uint32_t>(0, world.next_node + 1)},
                             *rc::gen::inRange<std::int64_t>(0, 5), {*rc::gen::inRange<std::uint32_t>(0, 2)});
    pod.pod_class = {*rc::gen::inRange<std::uint32_t>(0, 3)};
    pods.push_back(pod);
  }
  return pods;
}

RC_GTEST_PROP(AssumedRooms, KeptOnesEqualNewOnes, ()) {
  World world = testing::random_world();
  Index kept = build(world.snapshot);
  for (int step = 0; step < 4; ++step) {
    apply(kept, world.snapshot, testing::change_at_random(world));
    const std::vector<AssumedPod> pods = random_pods(world);
    std::vector<NodeId> leaving;
    if (*rc::gen::inRange(0, 3) == 0) leaving.push_back({*rc::gen::inRange<std::uint32_t>(0, world.next_node + 1)});
    Index fresh = build(world.snapshot);
    for (Index* index : {&kept, &fresh}) {
      index->assumed.update(index->rooms, world.snapshot.catalog->eligibility, pods, leaving);
    }
    RC_ASSERT(kept.assumed.rooms() == fresh.assumed.rooms());
    RC_ASSERT(kept.assumed.pods_by_node() == fresh.assumed.pods_by_node());
    for (const std::uint32_t queue : {0u, 1u}) {
      const auto held = [&](const Index& index) {
        const auto found = index.assumed.gpus_by_queue().find({queue});
        return found == index.assumed.gpus_by_queue().end() ? MilliGpu{} : found->second;
      };
      RC_ASSERT(held(kept) == held(fresh));
    }
    for (int takes = *rc::gen::inRange(0, 3); takes > 0; --takes) {
      const NodeId node{*rc::gen::inRange<std::uint32_t>(0, world.next_node + 1)};
      const NodeRoom* room = kept.assumed.rooms().find(node);
      if (room != nullptr) kept.assumed.take(node, room->free.sum, {.cpu_milli = 1});
    }
  }
}

}  // namespace
}  // namespace capstan::fleet
