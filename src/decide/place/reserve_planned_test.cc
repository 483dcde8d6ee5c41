#include "decide/place/passes.h"

#include <gtest/gtest.h>

#include "decide/testing/placement.h"

namespace capstan::decide::place {
namespace {

TEST(ReservePlanned, SwitchedOffAPlannedReplicaTakesNoRoomAndLacksNone) {
  fleet::testing::World world;
  const NodeId node = world.node(0, 1);
  world.pool({world.offering(8, 0, 10)}, 64);
  const std::vector<model::PlannedGang> planned{{{0}, 1, {}}, {{0}, 2, {}}};
  const Decision on = place_once(world, {}, planned);
  EXPECT_TRUE(on.nominated.contains(node));
  EXPECT_EQ(on.shortfalls.size(), 1u) << "the node has room for one of the two";
  const Decision off = place_once(world, gang_without("reserve_planned"), planned);
  EXPECT_TRUE(off.nominated.empty());
  EXPECT_TRUE(off.shortfalls.empty());
}

}  // namespace
}  // namespace capstan::decide::place
