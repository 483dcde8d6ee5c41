#include "decide/place/spread_constraint.h"

#include <gtest/gtest.h>

#include "fleet/testing/world.h"

namespace capstan::decide::place {
namespace {

using fleet::testing::at;
using fleet::testing::World;
using model::Gang;

constexpr std::size_t kZoneA = 0, kZoneB = 4;  // an NVLink domain of each zone

/// A service that must survive the loss of a domain, with nodes of eight GPUs.
struct ZonedWorld : World {
  explicit ZonedWorld(TopologyLevel level, ReplicaCount desired) {
    catalog().services.front().survives = level;
    snapshot.services.set({0}, {.desired_replicas = desired, .gateway_waiting = {}});
  }
  GangId replica() { return gang(1, 1, TopologyLevel::node); }
  GangId standing(NodeId node) {
    const GangId id = replica();
    bind(id, node);
    return id;
  }
  Decision decide_now() {
    Memory memory;
    Index index = fleet::build(snapshot);
    return decide(index, snapshot, {}, Policy{}, memory, at(100));
  }
};

NodeId node_of(const Decision& decision, std::size_t action) {
  return std::get<model::BindPods>(decision.plan.actions.at(action).effect).bindings.at(0).node;
}

TEST(SpreadConstraint, AReplicaGoesToTheDomainWithTheFewestReplicas) {
  ZonedWorld world(TopologyLevel::zone, 4);
  const NodeId a = world.node(kZoneA), b = world.node(kZoneB);
  world.standing(a);
  world.replica();
  EXPECT_EQ(node_of(world.decide_now(), 0), b) << "the other node is fuller";
}

TEST(SpreadConstraint, ReplicasOfOneDecisionCount) {
  ZonedWorld world(TopologyLevel::zone, 4);
  const NodeId a = world.node(kZoneA), b = world.node(kZoneB);
  for (int i = 0; i < 4; ++i) world.replica();
  const Decision decision = world.decide_now();
  std::map<NodeId, int> on;
  for (std::size_t i = 0; i < 4; ++i) ++on[node_of(decision, i)];
  EXPECT_EQ(on[a], 2);
  EXPECT_EQ(on[b], 2);
}

TEST(SpreadConstraint, ANodeCanBeTheDomain) {
  ZonedWorld world(TopologyLevel::node, 3);
  const NodeId one = world.node(kZoneA), two = world.node(kZoneA), three = world.node(kZoneA);
  world.standing(one);
  world.standing(three);
  world.replica();
  EXPECT_EQ(node_of(world.decide_now(), 0), two);
}

TEST(SpreadConstraint, ASpareReplicaWaitsForAnotherDomain) {
  ZonedWorld world(TopologyLevel::zone, 4);
  const NodeId a = world.node(kZoneA);
  const model::OfferingId in_a = world.offering(8, 0, 10), in_b = world.offering(8, 1, 10);
  const model::PoolId pool = world.pool({in_a, in_b}, 64);
  world.standing(a);
  world.replica();
  EXPECT_EQ(node_of(world.decide_now(), 0), a) << "two replicas hold the SLO in any zone";
  ZonedWorld more(TopologyLevel::zone, 4);
  const NodeId again = more.node(kZoneA);
  more.offering(8, 0, 10), more.offering(8, 1, 10);
  more.pool({in_a, in_b}, 64);
  more.standing(again);
  more.standing(again);
  more.replica();
  const Decision decision = more.decide_now();
  EXPECT_TRUE(decision.plan.actions.empty()) << "a third replica in the zone would be lost with the others";
  ASSERT_EQ(decision.shortfalls.size(), 1u);
  EXPECT_TRUE(decision.shortfalls[0].spread_is_strict);
  EXPECT_EQ(decision.shortfalls[0].preferred_zone, more.zone(1));
  EXPECT_EQ(decision.shortfalls[0].avoided_purchases, (std::vector<model::Purchase>{{pool, in_a}}));
}

TEST(SpreadConstraint, WithoutAnotherDomainAReplicaTakesAnyRoom) {
  ZonedWorld world(TopologyLevel::zone, 4);
  const NodeId a = world.node(kZoneA);
  for (int i = 0; i < 3; ++i) world.standing(a);
  world.replica();
  EXPECT_EQ(node_of(world.decide_now(), 0), a);
}

TEST(SpreadConstraint, ASleepingReplicaDoesNotCount) {
  ZonedWorld world(TopologyLevel::zone, 6);
  const NodeId a = world.node(kZoneA), b = world.node(kZoneB);
  world.standing(a);
  for (int i = 0; i < 2; ++i) world.bind(world.replica(), b, Gang::Phase::sleeping);
  world.replica();
  EXPECT_EQ(node_of(world.decide_now(), 0), b);
}

TEST(SpreadConstraint, AServiceThatNeedNotSurviveALossIsPacked) {
  ZonedWorld world(TopologyLevel::zone, 4);
  world.catalog().services.front().survives.reset();
  const NodeId a = world.node(kZoneA);
  world.node(kZoneB);
  world.standing(a);
  world.replica();
  EXPECT_EQ(node_of(world.decide_now(), 0), a) << "the fuller node";
}

}  // namespace
}  // namespace capstan::decide::place
