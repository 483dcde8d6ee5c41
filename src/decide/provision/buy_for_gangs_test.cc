// Tests of the step that buys nodes for whole gangs.
#include <gtest/gtest.h>

#include "decide/provision/passes.h"
#include "decide/testing/both_layers.h"
#include "decide/testing/placement.h"

namespace capstan::decide::provision {
namespace {

TEST(Groups, CompleteTheDomainThatNeedsTheFewestNodes) {
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
  EXPECT_EQ(bought[0].domain, world.nvlink(1));
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
  EXPECT_EQ(bought[0].domain, world.rack(2)) << "the lowest rack of the zone that offers";
  EXPECT_TRUE(launches(run(world, groups(), memory, 1)).empty()) << "they are on their way";
}

TEST(Groups, APoolWithAHigherWeightIsPreferredWhateverItCosts) {
  WeightedPools pools(16);
  pools.world.gang(2, 8, TopologyLevel::zone, 0);
  pools.world.gang(2, 8, TopologyLevel::zone, 1);
  Memory memory;
  const auto bought = launches(run(pools.world, groups(), memory, 2));
  ASSERT_EQ(bought.size(), 2u);
  EXPECT_EQ(bought[0].offering, pools.preferred);
  EXPECT_EQ(bought[1].offering, pools.cheap) << "the pool with the higher weight is at its limit";
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

TEST(Groups, TheFleetsLimitsHoldForAllPoolsTogether) {
  struct Row {
    model::FleetLimits limits;
    model::ReasonCode why;
  };
  const Row rows[] = {
      {{.gpus = 23, .nodes = {}, .price_per_hour = {}}, model::ReasonCode::fleet_gpu_limit},
      {{.gpus = {}, .nodes = 2, .price_per_hour = {}}, model::ReasonCode::fleet_node_limit},
      {{.gpus = {}, .nodes = {}, .price_per_hour = MicroUsd{29'999'999}}, model::ReasonCode::fleet_price_limit}};
  for (const Row& row : rows) {
    World world;
    const auto eight = world.offering(8, 0, 10), elsewhere = world.offering(8, 1, 10);
    const model::PoolId other = world.pool({}, 64);
    world.pool({eight}, 64);
    world.claim(other, elsewhere, model::Claim::Phase::launched, 0);
    world.gang(2, 8, TopologyLevel::zone);
    Memory memory;
    EXPECT_EQ(launches(run(world, groups(), memory, 1)).size(), 1u) << "without limits";
    memory = {};
    world.catalog().limits = row.limits;
    const Decision decision = run(world, groups(), memory, 1);
    EXPECT_TRUE(launches(decision).empty());
    EXPECT_TRUE(kept_for(decision, row.why));
  }
}

TEST(Groups, NodesThatDoNotAdmitItsPodsAreNotBoughtForAGang) {
  World world;
  const auto cheap = world.offering(8, 0, 1), dear = world.offering(8, 0, 2);
  const model::PoolId pool = world.pool({cheap, dear}, 64);
  world.catalog().eligibility.purchases = {{{pool, cheap}, {0}}, {{pool, dear}, {1}}};
  world.classify(world.gang(1, 8, TopologyLevel::node), world.pod_class({false, true}));
  world.claim(pool, cheap, model::Claim::Phase::launched, 0);
  Memory memory;
  const auto bought = launches(run(world, groups(), memory, 1));
  ASSERT_EQ(bought.size(), 1u) << "the node that comes does not admit it";
  EXPECT_EQ(bought[0].offering, dear);
}

/// A gang of two pod sets, each of which another kind of node admits. The first set has room, the second has none.
TEST(Groups, NodesAreBoughtThatAdmitOnlyTheSecondPodSet) {
  World world;
  const auto cheap = world.offering(8, 0, 1), dear = world.offering(8, 0, 2);
  const model::PoolId pool = world.pool({cheap, dear}, 64);
  world.catalog().eligibility.purchases = {{{pool, cheap}, {0}}, {{pool, dear}, {1}}};
  world.classify(world.node(0), model::NodeClassId{0});
  const auto pods = [&](GpuCount gpus, std::vector<bool> node_classes) {
    return model::PodSet{.gpu = {0},
                         .count = 1,
                         .gpus_per_pod = whole_gpus(gpus),
                         .pod_class = world.pod_class(std::move(node_classes))};
  };
  place::gang_of_sets(world, {pods(8, {true, false}), pods(4, {false, true})}, TopologyLevel::rack);
  Memory memory;
  const auto bought = launches(run(world, groups(), memory, 0));
  ASSERT_EQ(bought.size(), 1u);
  EXPECT_EQ(bought[0].offering, dear);
  EXPECT_EQ(bought[0].count, 1);
  EXPECT_TRUE(launches(run(world, groups(), memory, 1)).empty()) << "the node is on its way";
}

TEST(Groups, NodesAreNotBoughtForDomainsThatALaunchCannotChoose) {
  World world;
  world.pool({world.offering(8, 0, 10)}, 64);
  for (model::Topology::LevelInfo& depth : world.catalog().topologies.front().levels) {
    depth.is_chosen_at_launch = depth.name == "zone" || depth.name == "cluster";
  }
  world.gang(2, 8, TopologyLevel::rack);
  Memory memory;
  const Decision decision = run(world, groups(), memory, 0);
  EXPECT_TRUE(launches(decision).empty());
  EXPECT_TRUE(kept_for(decision, model::ReasonCode::domain_not_sold));
}

/// Makes a world with `claims` claims of a group of four that an earlier controller process launched at 0 s.
World left_behind(std::size_t claims, model::Claim::Phase phase) {
  World world;
  const auto eight = world.offering(8, 0, 10);
  const model::PoolId pool = world.pool({eight}, 64);
  for (std::size_t i = 0; i < claims; ++i) {
    const model::ClaimId id = world.claim(pool, eight, phase, 0, {7});
    model::Claim claim = world.snapshot.claims.at(id);
    claim.group_size = 4;
    world.snapshot.claims.set(id, claim);
  }
  return world;
}

TEST(Groups, APredecessorsGroupIsAdopted) {
  World world = left_behind(4, model::Claim::Phase::launched);
  world.gang(4, 8, TopologyLevel::zone);
  Memory memory;
  EXPECT_TRUE(launches(run(world, groups(), memory, 1)).empty()) << "it is for this gang";
  ASSERT_EQ(memory.groups.size(), 1u);
  EXPECT_EQ(memory.groups[0].until, Instant{groups().hold});
  const auto released = all<model::ReleaseGroup>(run(world, groups(), memory, whole_seconds(groups().hold)));
  ASSERT_EQ(released.size(), 1u);
  EXPECT_EQ(released[0].group, model::ClaimGroupId{7});
}

TEST(Groups, APredecessorsGroupThatItDidNotFinishIsGivenBack) {
  World world = left_behind(2, model::Claim::Phase::launched);
  Memory memory;
  EXPECT_TRUE(all<model::ReleaseGroup>(run(world, groups(), memory, 1)).empty())
      << "the missing claims may still appear";
  EXPECT_EQ(all<model::ReleaseGroup>(run(world, groups(), memory, whole_seconds(groups().ask_timeout))).size(), 1u);
}

TEST(Groups, ANodeInUseIsNotReleasedWithItsGroup) {
  World world = left_behind(4, model::Claim::Phase::launched);
  const model::NodeId used = world.node(0);
  model::Node node = world.snapshot.nodes.at(used);
  node.claim = {0};
  world.snapshot.nodes.set(used, node);
  model::Claim first = world.snapshot.claims.at({0});
  first.phase = model::Claim::Phase::registered;
  first.node = used;
  world.snapshot.claims.set({0}, first);
  world.bind(world.gang(1, 8, TopologyLevel::node), used);
  Memory memory;
  run(world, groups(), memory, 1);
  const std::int64_t late = whole_seconds(groups().hold);
  EXPECT_EQ(all<model::ReleaseGroup>(run(world, groups(), memory, late)).size(), 1u);
  for (const std::uint32_t gone : {1u, 2u, 3u}) world.snapshot.claims.erase({gone});
  EXPECT_TRUE(all<model::ReleaseGroup>(run(world, groups(), memory, late + 100)).empty())
      << "only the node in use is left";
  EXPECT_TRUE(memory.groups.empty());
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

/// Returns the nodes that are bought for two workers with eight GPUs and 60 CPUs each, and a leader without GPUs.
std::int64_t nodes_with_leader(std::int64_t leader_cpu_milli, std::int64_t free_cpu_milli) {
  World world;
  world.catalog().instance_types = {{.name = "p5", .cpu_milli = 100'000, .memory_mib = 1}};
  const auto eight = world.offering(8, 0, 10);
  world.catalog().offerings[eight.value].type = {0};
  world.pool({eight}, 64);
  if (free_cpu_milli > 0) world.set_available(world.node(0), {.cpu_milli = free_cpu_milli});
  const model::PodSet workers{.gpu = {0},
                              .count = 2,
                              .gpus_per_pod = whole_gpus(8),
                              .pod_class = world.pod_class({true}, {.cpu_milli = 60'000})};
  const model::PodSet leader{.gpu = {0},
                             .count = 1,
                             .gpus_per_pod = {},
                             .pod_class = world.pod_class({true}, {.cpu_milli = leader_cpu_milli})};
  place::gang_of_sets(world, {workers, leader}, TopologyLevel::rack);
  Memory memory;
  std::int64_t nodes = 0;
  for (const auto& launch : launches(run(world, groups(), memory, 0))) nodes += launch.count;
  EXPECT_TRUE(launches(run(world, groups(), memory, 1)).empty()) << "they are on their way";
  return nodes;
}

TEST(Groups, ALeaderWithoutGpusNeedsNoNodeOfItsOwnIfItFitsOnANodeOfTheWorkers) {
  EXPECT_EQ(nodes_with_leader(40'000, 0), 2);
  EXPECT_EQ(nodes_with_leader(41'000, 0), 3) << "no node has CPU for a worker and the leader";
  EXPECT_EQ(nodes_with_leader(40'000, 60'000), 1) << "one worker uses a node that exists, the leader the new node";
  EXPECT_EQ(nodes_with_leader(41'000, 101'000), 1) << "the node that exists has CPU for a worker and the leader";
}

}  // namespace
}  // namespace capstan::decide::provision
