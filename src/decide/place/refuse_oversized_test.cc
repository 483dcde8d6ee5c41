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

/// Decides on a gang that needs 16 GPUs, in a fleet with two nodes of eight GPUs that exclude its pods.
/// @param gpu_limit  limit of a pool that sells nodes of eight GPUs for the pods; 0: there is no such pool
model::ReasonCode reason_beside_excluding_nodes(GpuCount gpu_limit) {
  fleet::testing::World world;
  for (int i = 0; i < 2; ++i) world.classify(world.node(0), model::NodeClassId{0});
  if (gpu_limit > 0) world.pool({world.offering(8, 0, 10)}, gpu_limit);
  world.classify(world.gang(16, 1, TopologyLevel::rack), world.pod_class({false}));
  const Decision decision = place_once(world, {});
  EXPECT_EQ(decision.verdicts.at(0).kind, PlacementResult::Kind::never_fits);
  return decision.verdicts.at(0).why.code;
}

TEST(RefuseOversized, TheLimitOfAPoolIsTheCauseIfItSellsNodesForThePods) {
  EXPECT_EQ(reason_beside_excluding_nodes(8), model::ReasonCode::never_fits);
  EXPECT_EQ(reason_beside_excluding_nodes(0), model::ReasonCode::no_node_admits);
}

}  // namespace
}  // namespace capstan::decide::place
