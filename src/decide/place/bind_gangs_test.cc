#include "decide/place/passes.h"

#include <gtest/gtest.h>

#include "decide/testing/placement.h"

namespace capstan::decide::place {
namespace {

TEST(BindGangs, TheOldestGangWithRoomIsBound) {
  fleet::testing::World world;
  world.node(0, 8);
  world.gang(2, 8, TopologyLevel::node, 0);
  const GangId second = world.gang(8, 1, TopologyLevel::node, 1);
  const Decision decision = place_once(world, {});
  ASSERT_EQ(decision.plan.actions.size(), 1u);
  EXPECT_EQ(std::get<model::BindPods>(decision.plan.actions[0].effect).gang, second);
}

TEST(BindGangs, SwitchedOffEveryGangStaysPendingWithAReason) {
  fleet::testing::World world;
  world.node(0, 8);
  world.gang(8, 1, TopologyLevel::node);
  const Decision decision = place_once(world, gang_without("bind_gangs"));
  EXPECT_TRUE(decision.plan.actions.empty());
  EXPECT_TRUE(decision.shortfalls.empty()) << "no pass knows what the gang lacks";
  ASSERT_EQ(decision.verdicts.size(), 1u);
  EXPECT_EQ(decision.verdicts[0].kind, PlacementResult::Kind::cannot_fit_now);
  EXPECT_EQ(decision.verdicts[0].why.code, model::ReasonCode::passes_off);
}

}  // namespace
}  // namespace capstan::decide::place
