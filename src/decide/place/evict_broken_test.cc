#include "decide/place/passes.h"

#include <gtest/gtest.h>

#include "decide/testing/placement.h"

namespace capstan::decide::place {
namespace {

/// A gang of two pods. One has a node, and there is no room for the other one.
struct LostPod {
  LostPod() {
    const NodeId node = world.node(0, 8);
    gang = world.gang(2, 8, TopologyLevel::node);
    world.bind_pod(gang, 0, node);
  }
  /// Runs two cycles. In the second one the gang has been broken for too long. Returns the decision of the second
  /// cycle.
  Decision second_cycle(const Policy& policy) {
    Memory memory;
    place_once(world, policy, memory, fleet::testing::at(100));
    return place_once(world, policy, memory, fleet::testing::at(100) + policy.broken_for);
  }
  fleet::testing::World world;
  GangId gang;
};

TEST(EvictBroken, ThePodsOfALostPodAreEvictedAfterItsTime) {
  LostPod broken;
  const Decision decision = broken.second_cycle({});
  ASSERT_EQ(decision.plan.actions.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<model::EvictPod>(decision.plan.actions[0].effect));
  EXPECT_EQ(decision.verdicts.at(0).why.code, model::ReasonCode::gang_given_up);
}

TEST(EvictBroken, SwitchedOffTheGangHoldsItsGpusAndStillLacksRoom) {
  LostPod broken;
  broken.world.pool({broken.world.offering(16, 0, 10)}, 64);
  const Decision decision = broken.second_cycle(gang_without("evict_broken"));
  EXPECT_TRUE(decision.plan.actions.empty());
  EXPECT_EQ(decision.shortfalls.size(), 1u);
}

}  // namespace
}  // namespace capstan::decide::place
