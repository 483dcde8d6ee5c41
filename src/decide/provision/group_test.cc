// Capacity for whole gangs.
#include <gtest/gtest.h>

#include "decide/testing/both_layers.h"

namespace capstan::decide::provision {
namespace {

TEST(Groups, CompleteTheDomainThatTheGangNearlyFits) {
  World world;
  const auto one = world.offering(1, 0, 2), eight = world.offering(8, 0, 10);
  world.pool({one, eight}, 64);
  world.node(1, 7);
  world.gang(8, 1, TopologyLevel::nvlink);
  Memory memory;
  const auto bought = launches(run(world, groups(), memory, 0));
  ASSERT_EQ(bought.size(), 1u);
  EXPECT_EQ(bought[0].offering, one);
  EXPECT_EQ(bought[0].count, 1);
  EXPECT_EQ(bought[0].within, world.nvlink(1));
  EXPECT_EQ(bought[0].hold, groups().hold);
}

TEST(Groups, AllNodesOfAGangComeInOneDomain) {
  World world;
  world.pool({world.offering(8, 1, 10)}, 64);
  world.gang(4, 8, TopologyLevel::rack);
  Memory memory;
  const auto bought = launches(run(world, groups(), memory, 0));
  ASSERT_EQ(bought.size(), 1u);
  EXPECT_EQ(bought[0].count, 4);
  EXPECT_EQ(bought[0].within, world.rack(2)) << "the lowest rack of the zone that offers";
  EXPECT_TRUE(launches(run(world, groups(), memory, 1)).empty()) << "they are on their way";
}

TEST(Groups, TwoGangsOfFourShareTheNodeOfEightThatComes) {
  World world;
  world.pool({world.offering(8, 0, 10)}, 64);
  world.gang(4, 1, TopologyLevel::node, 0);
  world.gang(4, 1, TopologyLevel::node, 1);
  Memory memory;
  EXPECT_EQ(launches(run(world, groups(), memory, 2)).size(), 1u);
}

TEST(Groups, TheFreeGpusOfADomainAreCountedOnce) {
  World world;
  world.pool({world.offering(1, 0, 2)}, 64);
  world.node(0, 7);
  world.gang(8, 1, TopologyLevel::nvlink, 0);
  world.gang(8, 1, TopologyLevel::nvlink, 1);
  Memory memory;
  const auto bought = launches(run(world, groups(), memory, 2));
  ASSERT_EQ(bought.size(), 2u);
  EXPECT_EQ(bought[0].count, 1);
  EXPECT_EQ(bought[1].count, 8);
}

TEST(Groups, NothingIsBoughtInPartUnderALimit) {
  World world;
  world.pool({world.offering(8, 0, 10)}, 24);
  world.node(0, 8);
  world.bind(world.gang(1, 8, TopologyLevel::node), NodeId{0});
  model::Node node = world.snapshot.nodes.at(NodeId{0});
  node.pool = {0};
  world.snapshot.nodes.set(NodeId{0}, node);
  world.gang(3, 8, TopologyLevel::rack, 1);
  Memory memory;
  const Decision decision = run(world, groups(), memory, 2);
  EXPECT_TRUE(launches(decision).empty());
  EXPECT_TRUE(kept_for(decision, model::ReasonCode::pool_limit));
}

}  // namespace
}  // namespace capstan::decide::provision
