#include "decide/provision/passes.h"

#include <gtest/gtest.h>

#include "decide/testing/both_layers.h"

namespace capstan::decide::provision {
namespace {

using model::Claim;

struct GroupOfTwo {
  World world;
  model::OfferingId first, second;
  model::ClaimId a, b;
  Memory memory;
  explicit GroupOfTwo(int claims = 2) : first(world.offering(8, 0, 10)), second(world.offering(8, 1, 12)) {
    const auto pool = world.pool({first, second}, 64);
    world.gang(2, 8, TopologyLevel::zone);
    EXPECT_EQ(launches(run(world, groups(), memory, 0)).at(0).offering, first);
    a = world.claim(pool, first, Claim::Phase::requested, 0, {7}, world.zone(0));
    if (claims == 2) b = world.claim(pool, first, Claim::Phase::requested, 0, {7}, world.zone(0));
    EXPECT_TRUE(run(world, groups(), memory, 1).plan.actions.empty());
  }
  void set(model::ClaimId id, Claim::Phase phase) {
    Claim claim = world.snapshot.claims.at(id);
    claim.phase = phase;
    if (phase == Claim::Phase::registered) {
      claim.node = world.node(0);
      model::Node node = world.snapshot.nodes.at(claim.node);
      node.pool = claim.pool;
      node.offering = claim.offering;
      node.claim = id;
      world.snapshot.nodes.set(claim.node, node);
    }
    world.snapshot.claims.set(id, claim);
  }
};

TEST(Groups, ACapacityErrorOnOneNodeReleasesAllAndTakesTheNextOffering) {
  GroupOfTwo g;
  g.set(g.a, Claim::Phase::launched);
  g.set(g.b, Claim::Phase::failed);
  const Decision decision = run(g.world, groups(), g.memory, 30);
  ASSERT_EQ(all<model::ReleaseGroup>(decision).size(), 1u);
  ASSERT_EQ(launches(decision).size(), 1u);
  EXPECT_EQ(launches(decision)[0].offering, g.second);
  EXPECT_EQ(launches(decision)[0].count, 2);
  EXPECT_TRUE(all<model::ReleaseGroup>(run(g.world, groups(), g.memory, 31)).empty())
      << "the release is submitted once";
}

TEST(Groups, AnIncompleteGroupIsReleasedAsAWhole) {
  GroupOfTwo g;
  g.set(g.a, Claim::Phase::registered);
  EXPECT_TRUE(all<model::ReleaseGroup>(run(g.world, groups(), g.memory, 599)).empty());
  const Decision late = run(g.world, groups(), g.memory, 600);
  ASSERT_EQ(all<model::ReleaseGroup>(late).size(), 1u);
  EXPECT_EQ(
      sentence(late.plan.actions[0].why),
      "only 1 of the 2 nodes of the group became ready before a claim failed or the hold time of 10 min ended: the "
      "whole group is released");
}

TEST(Groups, AGroupThatComesInPartsIsWhole) {
  GroupOfTwo g(1);
  g.world.claim({0}, g.first, Claim::Phase::requested, 2, {7}, g.world.zone(0));
  run(g.world, groups(), g.memory, 2);
  ASSERT_EQ(g.memory.groups.size(), 1u);
  EXPECT_EQ(g.memory.groups[0].count, 2);
  EXPECT_EQ(g.memory.groups[0].claims.size(), 2u);
  EXPECT_TRUE(g.memory.pending_launches.empty());
}

/// Two launches of the same offering, of two and of three nodes. Their claims appear in either order.
TEST(Groups, ClaimsOfOneGroupAnswerOneLaunch) {
  for (const bool larger_first : {false, true}) {
    SCOPED_TRACE(larger_first);
    World world;
    const auto offering = world.offering(8, 0, 10);
    const auto pool = world.pool({offering}, 64);
    world.gang(2, 8, TopologyLevel::zone, 0);
    world.gang(3, 8, TopologyLevel::zone, 0);
    Memory memory;
    ASSERT_EQ(launches(run(world, groups(), memory, 0)).size(), 2u);
    for (const std::int64_t nodes : larger_first ? std::vector{3, 2} : std::vector{2, 3}) {
      for (std::int64_t i = 0; i < nodes; ++i) {
        world.claim(pool, offering, Claim::Phase::requested, 0, {static_cast<std::uint32_t>(nodes)}, world.zone(0));
      }
    }
    run(world, groups(), memory, 1);
    EXPECT_TRUE(memory.pending_launches.empty());
    ASSERT_EQ(memory.groups.size(), 2u);
    for (const Memory::Group& group : memory.groups) {
      EXPECT_EQ(group.count, group.id.value);
      EXPECT_EQ(std::ssize(group.claims), group.count);
    }
  }
}

TEST(Groups, AWholeGroupIsLeftAlone) {
  GroupOfTwo g;
  g.set(g.a, Claim::Phase::registered);
  g.set(g.b, Claim::Phase::registered);
  EXPECT_TRUE(all<model::ReleaseGroup>(run(g.world, groups(), g.memory, 600)).empty());
  EXPECT_TRUE(g.memory.groups.empty());
}

}  // namespace
}  // namespace capstan::decide::provision
