#include "decide/place/passes.h"

#include <gtest/gtest.h>

#include "decide/testing/placement.h"

namespace capstan::decide::place {
namespace {

TEST(BindPods, SwitchedOffNoPodIsBound) {
  fleet::testing::World world;
  world.node(0, 8);
  world.gang(2, 1, TopologyLevel::node);
  Policy policy{.kind = Policy::Kind::first_fit};
  EXPECT_EQ(place_once(world, policy).plan.actions.size(), 1u);
  policy.off = {"bind_pods"};
  const Decision decision = place_once(world, policy);
  EXPECT_TRUE(decision.plan.actions.empty());
  ASSERT_EQ(decision.verdicts.size(), 1u);
  EXPECT_EQ(decision.verdicts[0].why.code, model::ReasonCode::passes_off);
}

TEST(BindPods, AGangThatItsQueueCouldNotHoldBesideOlderOnesWaitsForTheQueue) {
  fleet::testing::World world;
  const model::QueueId queue = world.queue(8);
  for (const std::int64_t at_s : {0, 1}) world.enqueue(world.gang(6, 1, TopologyLevel::node, at_s), queue);
  const Decision decision = place_once(world, {.kind = Policy::Kind::first_fit});
  ASSERT_EQ(decision.verdicts.size(), 2u);
  EXPECT_EQ(decision.verdicts[0].why.code, model::ReasonCode::no_node_fits);
  EXPECT_EQ(decision.verdicts[1].kind, PlacementResult::Kind::held_by_queue);
  EXPECT_EQ(decision.verdicts[1].why.code, model::ReasonCode::queue_limit);
}

}  // namespace
}  // namespace capstan::decide::place
