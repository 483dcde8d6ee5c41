// Tests of the step that buys nodes for single pods.
#include <gtest/gtest.h>

#include "decide/provision/passes.h"
#include "decide/testing/both_layers.h"

namespace capstan::decide::provision {
namespace {

using model::Claim;

TEST(PerPod, PacksPodsAndBuysTheCheapestNodeThatFits) {
  World world;
  const auto small = world.offering(4, 0, 5), big = world.offering(8, 0, 9);
  world.pool({small, big}, 64);
  world.gang(6, 1, TopologyLevel::node);
  Memory memory;
  const auto six = launches(run(world, at_once(), memory, 0));
  ASSERT_EQ(six.size(), 1u);
  EXPECT_EQ(six[0].offering, big) << "one node of eight holds six";
  EXPECT_EQ(six[0].hold, Duration{}) << "the nodes are not a group";
  World other;
  const auto cheap = other.offering(4, 0, 5);
  other.pool({cheap, other.offering(8, 0, 9)}, 64);
  other.gang(3, 1, TopologyLevel::node);
  Memory fresh;
  EXPECT_EQ(launches(run(other, at_once(), fresh, 0))[0].offering, cheap);
}

TEST(PerPod, NodesThatDoNotAdmitAPodAreNotBoughtForIt) {
  World world;
  const auto cheap = world.offering(8, 0, 1), dear = world.offering(8, 0, 2);
  const model::PoolId pool = world.pool({cheap, dear}, 64);
  world.catalog().eligibility.purchases = {{{pool, cheap}, {0}}, {{pool, dear}, {1}}};
  world.classify(world.gang(1, 4, TopologyLevel::node), world.pod_class({false, true}));
  world.claim(pool, cheap, Claim::Phase::launched, 0);
  Memory memory;
  const auto bought = launches(run(world, at_once(), memory, 1));
  ASSERT_EQ(bought.size(), 1u) << "the node that comes does not admit it";
  EXPECT_EQ(bought[0].offering, dear);
}

TEST(PerPod, PodsThatNoOneNodeAdmitsGetOneNodeEach) {
  World world;
  const auto first = world.offering(8, 0, 1), second = world.offering(8, 0, 2);
  const model::PoolId pool = world.pool({first, second}, 64);
  world.catalog().eligibility.purchases = {{{pool, first}, {0}}, {{pool, second}, {1}}};
  world.classify(world.gang(1, 4, TopologyLevel::node), world.pod_class({false, true}));
  world.classify(world.gang(1, 4, TopologyLevel::node), world.pod_class({true, false}));
  Memory memory;
  const auto bought = launches(run(world, at_once(), memory, 0));
  ASSERT_EQ(bought.size(), 2u);
  EXPECT_EQ(bought[0].offering, second);
  EXPECT_EQ(bought[1].offering, first);
}

TEST(PerPod, APoolWithAHigherWeightIsPreferredWhateverItCosts) {
  WeightedPools pools(8);
  pools.world.gang(8, 1, TopologyLevel::node);
  pools.world.gang(8, 1, TopologyLevel::node);
  Memory memory;
  const auto bought = launches(run(pools.world, at_once(), memory, 0));
  ASSERT_EQ(bought.size(), 2u);
  EXPECT_EQ(bought[0].offering, pools.preferred);
  EXPECT_EQ(bought[1].offering, pools.cheap) << "the pool with the higher weight is at its limit";
}

/// Three gangs of eight GPUs in a queue that holds two of them, and no node.
struct ThreeInAQueue {
  World world{};

  ThreeInAQueue() {
    world.pool({world.offering(8, 0, 9)}, 64);
    const model::QueueId queue = world.queue(16);
    for (const std::int64_t at_s : {0, 1, 2}) world.enqueue(world.gang(8, 1, TopologyLevel::node, at_s), queue);
  }
};

TEST(PerPod, NoNodeIsBoughtForAPodThatItsQueueCouldNotHold) {
  ThreeInAQueue three;
  Memory memory;
  EXPECT_EQ(launches(run(three.world, at_once(), memory, 10)).size(), 2u) << "each queue gates what exceeds its limit";
}

TEST(PerPod, AGangThatTheGangPolicyHoldsForItsQueueGetsNoNode) {
  ThreeInAQueue three;
  Index index = fleet::build(three.world.snapshot);
  place::Memory placing;
  const auto placed = place::decide(index, three.world.snapshot, {}, kGang, placing, at(10));
  Memory memory;
  EXPECT_EQ(launches(decide(index, three.world.snapshot, placed, at_once(), memory, at(10))).size(), 2u);
}

TEST(PerPod, BuysNothingForAPodThatFitsOnANode) {
  World world;
  world.pool({world.offering(8, 0, 9)}, 64);
  world.node(0, 4);
  world.node(2, 4);
  world.gang(8, 1, TopologyLevel::nvlink);
  Index index = fleet::build(world.snapshot);
  place::Memory placing;
  const auto placed = place::decide(index, world.snapshot, {}, kGang, placing, at(0));
  EXPECT_FALSE(placed.shortfalls.empty());
  Memory memory;
  EXPECT_TRUE(launches(decide(index, world.snapshot, placed, at_once(), memory, at(0))).empty())
      << "the provisioner knows only single pods, so the gang waits permanently";
}

/// Places the gangs of the world, and returns the purchases for the replicas without room, which have a spread
/// constraint.
std::vector<model::LaunchNodes> launches_with_spread(const World& world) {
  Index index = fleet::build(world.snapshot);
  place::Memory placing;
  const auto placed = place::decide(index, world.snapshot, {}, kGang, placing, at(0));
  Memory memory;
  return launches(decide(index, world.snapshot, placed, at_once(), memory, at(0)));
}

TEST(PerPod, SpreadReplicasShareTheNodesOfTheirZone) {
  World world;
  const auto in_a = world.offering(8, 0, 9), in_b = world.offering(8, 1, 9);
  world.pool({in_a, in_b}, 64);
  world.catalog().services.front().survives = model::TopologyLevel::zone;
  world.snapshot.services.set({0}, {.desired_replicas = 4, .gateway_waiting = {}});
  for (int i = 0; i < 4; ++i) world.gang(1, 1, TopologyLevel::node);
  const auto bought = launches_with_spread(world);
  ASSERT_EQ(bought.size(), 2u) << "two in each of two zones";
  EXPECT_NE(bought[0].offering, bought[1].offering);
}

TEST(PerPod, ReplicasThatMustSurviveANodeLossDoNotShareANode) {
  World world;
  world.pool({world.offering(8, 0, 9)}, 64);
  world.catalog().services.front().survives = model::TopologyLevel::node;
  world.snapshot.services.set({0}, {.desired_replicas = 3, .gateway_waiting = {}});
  const auto node = world.node(0);
  for (int i = 0; i < 2; ++i) world.bind(world.gang(1, 1, TopologyLevel::node), node);
  for (int i = 0; i < 2; ++i) world.gang(1, 1, TopologyLevel::node);
  EXPECT_EQ(launches_with_spread(world).size(), 2u);
}

TEST(PerPod, CountsNodesOnTheirWay) {
  World world;
  const auto offering = world.offering(8, 0, 9);
  const auto pool = world.pool({offering}, 64);
  world.gang(8, 1, TopologyLevel::node);
  Memory memory;
  EXPECT_EQ(launches(run(world, at_once(), memory, 0)).size(), 1u);
  EXPECT_TRUE(launches(run(world, at_once(), memory, 1)).empty()) << "asked for, no claim seen yet";
  world.claim(pool, offering, Claim::Phase::requested, 1);
  const Decision later = run(world, at_once(), memory, 200);
  EXPECT_TRUE(launches(later).empty()) << "a claim is on its way";
  EXPECT_EQ(later.expected_gpus, 8) << "the claim counts once, not also as the launch that asked for it";
}

TEST(PerPod, ALaunchThatLeavesNoTraceIsTriedAgain) {
  World world;
  world.pool({world.offering(8, 0, 9)}, 64);
  world.gang(8, 1, TopologyLevel::node);
  Memory memory;
  EXPECT_EQ(launches(run(world, at_once(), memory, 0)).size(), 1u);
  EXPECT_TRUE(launches(run(world, at_once(), memory, 59)).empty());
  EXPECT_EQ(launches(run(world, at_once(), memory, 60)).size(), 1u);
}

TEST(PerPod, KarpenterWaitsUntilTheBatchIsIdle) {
  World world;
  world.pool({world.offering(8, 0, 9)}, 64);
  world.gang(4, 1, TopologyLevel::node);
  Policy policy = karpenter();
  policy.consolidation.enabled = false;
  Memory memory;
  const Decision open = run(world, policy, memory, 0);
  EXPECT_TRUE(launches(open).empty());
  EXPECT_TRUE(kept_for(open, model::ReasonCode::batching));
  world.gang(4, 1, TopologyLevel::node);
  EXPECT_TRUE(launches(run(world, policy, memory, 1)).empty()) << "a pod has just come";
  EXPECT_EQ(launches(run(world, policy, memory, 2)).size(), 1u) << "eight pods, one node";
}

TEST(PerPod, ClusterAutoscalerScansEveryTenSeconds) {
  World world;
  world.pool({world.offering(8, 0, 9)}, 64);
  Memory memory;
  run(world, cluster_autoscaler(), memory, 0);
  world.gang(4, 1, TopologyLevel::node);
  EXPECT_TRUE(launches(run(world, cluster_autoscaler(), memory, 9)).empty());
  EXPECT_EQ(launches(run(world, cluster_autoscaler(), memory, 10)).size(), 1u);
}

TEST(PerPod, TheLimitIsHardAndCountsNodesOnTheirWay) {
  World world;
  const auto offering = world.offering(8, 0, 9);
  const auto pool = world.pool({offering}, 16);
  world.claim(pool, offering, Claim::Phase::launched, 0);
  world.gang(3, 8, TopologyLevel::zone);
  Memory memory;
  const Decision decision = run(world, at_once(), memory, 0);
  EXPECT_EQ(launches(decision).size(), 1u)
      << "one node is on its way, the limit allows one more, and refuses the third";
  EXPECT_TRUE(kept_for(decision, model::ReasonCode::pool_limit));
}

TEST(PerPod, ARefusedOfferingGivesWayToTheNextBest) {
  World world;
  const auto first = world.offering(8, 0, 9), second = world.offering(8, 1, 12);
  world.pool({first, second}, 64);
  world.gang(8, 1, TopologyLevel::node);
  Memory memory;
  const auto asked = launches(run(world, at_once(), memory, 0));
  ASSERT_EQ(asked.at(0).offering, first);
  refused(memory, asked[0], at_once(), at(5));
  EXPECT_EQ(launches(run(world, at_once(), memory, 6)).at(0).offering, second);
  Memory later = memory;
  later.pending_launches.clear();
  EXPECT_EQ(launches(run(world, at_once(), later, 186)).at(0).offering, first)
      << "after three minutes it is tried again";
}

TEST(PerPod, ANodeThatCameEndsTheBackOffOfItsOffering) {
  World world;
  const auto offering = world.offering(8, 0, 9);
  const auto pool = world.pool({offering}, 64);
  Memory memory;
  back_off(memory, offering, at_once(), at(100));
  const auto old = world.claim(pool, offering, Claim::Phase::registered, 99);
  run(world, at_once(), memory, 101);
  EXPECT_EQ(memory.backoffs.size(), 1u)
      << "the claim was requested before the refusal, so it does not show that capacity is back";
  Claim later = world.snapshot.claims.at(old);
  later.requested_at = at(280);
  world.snapshot.claims.set({world.next_claim++}, later);
  run(world, at_once(), memory, 340);
  EXPECT_TRUE(memory.backoffs.empty());
}

}  // namespace
}  // namespace capstan::decide::provision
