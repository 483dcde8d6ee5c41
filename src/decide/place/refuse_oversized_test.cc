#include "decide/place/passes.h"

#include <gtest/gtest.h>

#include "decide/testing/placement.h"

namespace capstan::decide::place {
namespace {

TEST(RefuseOversized, SwitchedOffAGangThatNeverFitsCountsAsOneWithoutRoom) {
  fleet::testing::World world;
  world.node(0, 8);
  world.gang(9, 1, TopologyLevel::node);
  const Decision on = place_once(world, {});
  EXPECT_EQ(on.verdicts.at(0).kind, PlacementResult::Kind::never_fits);
  EXPECT_TRUE(on.shortfalls.empty());
  const Decision off = place_once(world, gang_without("refuse_oversized"));
  EXPECT_EQ(off.verdicts.at(0).kind, PlacementResult::Kind::cannot_fit_now);
  EXPECT_EQ(off.shortfalls.size(), 1u);
}

}  // namespace
}  // namespace capstan::decide::place
