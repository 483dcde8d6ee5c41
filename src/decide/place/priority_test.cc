// Tests that gangs with a higher priority are served first, and that others learn how many wait before them.
#include <gtest/gtest.h>

#include <vector>

#include "decide/testing/placement.h"

namespace capstan::decide::place {
namespace {

using fleet::testing::World;

/// Adds a pending gang of one pod with eight GPUs.
GangId gang_with(World& world, std::int32_t priority, std::int64_t at_s) {
  const GangId id = world.gang(1, 8, TopologyLevel::node, at_s);
  model::Gang row = world.snapshot.gangs.at(id);
  row.spec.priority = priority;
  world.snapshot.gangs.set(id, row);
  return id;
}

/// Returns the gangs that the plan binds, in their order.
std::vector<GangId> bound_gangs(const Decision& decision) {
  std::vector<GangId> bound;
  for (const model::Action& action : decision.plan.actions) {
    bound.push_back(std::get<model::BindPods>(action.effect).gang);
  }
  return bound;
}

struct Row {
  const char* what;
  std::vector<std::int32_t> priorities;  ///< by gang, oldest first
  std::vector<std::uint32_t> bound;      ///< gangs that get the nodes, in the order in which they are served
};

TEST(Priority, TheHighestComesFirstAndOfEqualOnesTheOldest) {
  const Row rows[] = {
      {"equal priorities", {0, 0, 0}, {0, 1}},
      {"a younger gang with a higher priority", {0, 0, 7}, {2, 0}},
      {"a negative priority", {-1, 0, 0}, {1, 2}},
      {"every gang has another one", {1, 2'000'001'000, 5}, {1, 2}},
  };
  for (const Row& row : rows) {
    for (const Policy::Kind kind : {Policy::Kind::gang, Policy::Kind::first_fit}) {
      World world;
      world.node(0), world.node(1);
      for (std::size_t i = 0; i < row.priorities.size(); ++i) {
        gang_with(world, row.priorities[i], static_cast<std::int64_t>(i));
      }
      std::vector<GangId> bound;
      for (const std::uint32_t id : row.bound) bound.push_back({id});
      EXPECT_EQ(bound_gangs(place_once(world, {.kind = kind})), bound) << row.what << ", " << name(kind);
    }
  }
}

TEST(Priority, AGangThatFitsIsPlacedAlthoughALargerOneWithAHigherPriorityWaits) {
  World world;
  world.node(0);
  world.pool({world.offering(8, 0, 10)}, 64);
  const GangId large = world.gang(2, 8, TopologyLevel::rack);
  model::Gang row = world.snapshot.gangs.at(large);
  row.spec.priority = 10;
  world.snapshot.gangs.set(large, row);
  const GangId small = gang_with(world, 0, 1);
  EXPECT_EQ(bound_gangs(place_once(world, {})), std::vector{small});
}

TEST(Priority, ShortfallsAreInTheOrderInWhichNodesAreBought) {
  World world;
  world.pool({world.offering(8, 0, 10)}, 64);
  const GangId low = gang_with(world, 0, 0), high = gang_with(world, 5, 1), same = gang_with(world, 5, 2);
  const Decision decision = place_once(world, {});
  ASSERT_EQ(decision.shortfalls.size(), 3u);
  EXPECT_EQ(decision.shortfalls[0].gang, high);
  EXPECT_EQ(decision.shortfalls[1].gang, same);
  EXPECT_EQ(decision.shortfalls[2].gang, low);
}

TEST(Priority, AVerdictCountsTheGangsThatAreServedFirst) {
  World world;
  world.node(0);
  world.pool({world.offering(8, 0, 10)}, 64);
  const GangId low = gang_with(world, 0, 0);
  const GangId placed = gang_with(world, 9, 1);
  const GangId high = gang_with(world, 5, 2), same = gang_with(world, 5, 3);
  const Decision decision = place_once(world, {});
  ASSERT_EQ(decision.verdicts.size(), 4u);
  const GangId order[] = {placed, high, same, low};
  const std::int64_t waiting_before[] = {0, 0, 0, 2};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(decision.verdicts[i].gang, order[i]);
    EXPECT_EQ(decision.verdicts[i].waiting_before, waiting_before[i]) << "verdict " << i;
  }
}

TEST(Priority, PlannedReplicasAreServedByThePriorityOfTheirService) {
  World world;
  world.pool({world.offering(8, 0, 10)}, 64);
  model::Service urgent = world.catalog().services.front();
  urgent.workload.priority = 3;
  world.catalog().services.push_back(urgent);
  const Decision decision = place_once(
      world, {}, {{.service = {0}, .ordinal = 0, .decided_at = {}}, {.service = {1}, .ordinal = 0, .decided_at = {}}});
  ASSERT_EQ(decision.shortfalls.size(), 2u);
  EXPECT_EQ(decision.shortfalls[0].service, ServiceId{1});
  EXPECT_EQ(decision.shortfalls[1].service, ServiceId{0});
}

}  // namespace
}  // namespace capstan::decide::place
