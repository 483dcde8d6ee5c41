#include "decide/provision/provision.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

#include "decide/testing/world.h"

namespace capstan::decide::provision {
namespace {

using model::Claim;
using model::ConsolidationPolicy;
using testing::at;
using testing::World;

constexpr place::Policy kFirstFit{.kind = place::Policy::Kind::first_fit};
constexpr place::Policy kGang{.kind = place::Policy::Kind::gang};

/// Both layers on one snapshot, as the loop runs them.
Decision run(const World& world, const Policy& policy, Memory& memory, std::int64_t now_s) {
  const Index index = build(world.snapshot);
  place::Memory placing;
  const place::Policy& place_policy = policy.kind == Policy::Kind::group ? kGang : kFirstFit;
  const place::Decision placed = place::decide(index, world.snapshot, {}, place_policy, placing, at(now_s));
  return decide(index, world.snapshot, placed, policy, memory, at(now_s));
}

template <typename What>
std::vector<What> all(const Decision& decision) {
  std::vector<What> found;
  for (const model::Action& action : decision.plan.actions) {
    if (const What* what = std::get_if<What>(&action.what)) found.push_back(*what);
  }
  return found;
}
std::vector<model::LaunchNodes> launches(const Decision& d) { return all<model::LaunchNodes>(d); }
std::vector<model::TerminateNode> ended(const Decision& d) { return all<model::TerminateNode>(d); }

Policy at_once() {
  Policy policy = karpenter();
  policy.batch_idle = policy.batch_max = {};
  policy.consolidation.enabled = false;
  return policy;
}

Policy groups() {
  Policy policy = whole_groups();
  policy.consolidation.enabled = false;
  return policy;
}

bool kept_for(const Decision& decision, model::ReasonCode code) {
  return std::ranges::any_of(decision.plan.kept, [&](const auto& kept) { return kept.why.code == code; });
}

// --- Per pod ---

TEST(PerPod, PacksPodsAndBuysTheCheapestThatHolds) {
  World world;
  const auto small = world.offering(4, 0, 5), big = world.offering(8, 0, 9);
  world.pool({small, big}, 64);
  world.gang(6, 1, TopologyLevel::node);
  Memory memory;
  const auto six = launches(run(world, at_once(), memory, 0));
  ASSERT_EQ(six.size(), 1u);
  EXPECT_EQ(six[0].offering, big) << "one node of eight holds six";
  EXPECT_EQ(six[0].hold, Duration{}) << "nothing holds it together";
  World other;
  const auto cheap = other.offering(4, 0, 5);
  other.pool({cheap, other.offering(8, 0, 9)}, 64);
  other.gang(3, 1, TopologyLevel::node);
  Memory fresh;
  EXPECT_EQ(launches(run(other, at_once(), fresh, 0))[0].offering, cheap);
}

TEST(PerPod, APodThatFitsSomewhereIsNoReasonToBuyWhateverItsGangNeeds) {
  World world;
  world.pool({world.offering(8, 0, 9)}, 64);
  world.node(0, 4);
  world.node(2, 4);
  world.gang(8, 1, TopologyLevel::nvlink);
  const Index index = build(world.snapshot);
  place::Memory placing;
  const auto placed = place::decide(index, world.snapshot, {}, kGang, placing, at(0));
  EXPECT_FALSE(placed.shortfalls.empty());
  Memory memory;
  EXPECT_TRUE(launches(decide(index, world.snapshot, placed, at_once(), memory, at(0))).empty())
      << "a gang scheduler that does not speak to the provisioner waits for ever";
}

TEST(PerPod, CountsWhatIsOnItsWay) {
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
  EXPECT_EQ(later.coming_gpus, 8) << "and it is the one that was asked for";
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

TEST(PerPod, KarpenterWaitsForTheBatchToFallSilent) {
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

TEST(PerPod, ClusterAutoscalerLooksEveryTenSeconds) {
  World world;
  world.pool({world.offering(8, 0, 9)}, 64);
  Memory memory;
  run(world, cluster_autoscaler(), memory, 0);
  world.gang(4, 1, TopologyLevel::node);
  EXPECT_TRUE(launches(run(world, cluster_autoscaler(), memory, 9)).empty());
  EXPECT_EQ(launches(run(world, cluster_autoscaler(), memory, 10)).size(), 1u);
}

TEST(PerPod, TheLimitIsHardAndCountsWhatIsOnItsWay) {
  World world;
  const auto offering = world.offering(8, 0, 9);
  const auto pool = world.pool({offering}, 16);
  world.claim(pool, offering, Claim::Phase::launched, 0);
  world.gang(3, 8, TopologyLevel::zone);
  Memory memory;
  const Decision decision = run(world, at_once(), memory, 0);
  EXPECT_EQ(launches(decision).size(), 1u) << "one is coming, one more is allowed, the third is not";
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
  later.asked.clear();
  EXPECT_EQ(launches(run(world, at_once(), later, 186)).at(0).offering, first)
      << "after three minutes it is tried again";
}

// --- Whole groups ---

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

struct GroupOfTwo {
  World world;
  model::OfferingId first, second;
  model::ClaimId a, b;
  Memory memory;
  GroupOfTwo() : first(world.offering(8, 0, 10)), second(world.offering(8, 1, 12)) {
    const auto pool = world.pool({first, second}, 64);
    world.gang(2, 8, TopologyLevel::zone);
    EXPECT_EQ(launches(run(world, groups(), memory, 0)).at(0).offering, first);
    a = world.claim(pool, first, Claim::Phase::requested, 0, {7}, world.zone(0));
    b = world.claim(pool, first, Claim::Phase::requested, 0, {7}, world.zone(0));
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
  EXPECT_TRUE(all<model::ReleaseGroup>(run(g.world, groups(), g.memory, 31)).empty()) << "told once";
}

TEST(Groups, WhatIsNotWholeWithinItsHoldIsReleasedWhole) {
  GroupOfTwo g;
  g.set(g.a, Claim::Phase::registered);
  EXPECT_TRUE(all<model::ReleaseGroup>(run(g.world, groups(), g.memory, 599)).empty());
  const Decision late = run(g.world, groups(), g.memory, 600);
  ASSERT_EQ(all<model::ReleaseGroup>(late).size(), 1u);
  EXPECT_EQ(sentence(late.plan.actions[0].why),
            "1 of 2 nodes of the group came within the hold of 600 s: all released");
}

TEST(Groups, AWholeGroupIsLeftAlone) {
  GroupOfTwo g;
  g.set(g.a, Claim::Phase::registered);
  g.set(g.b, Claim::Phase::registered);
  EXPECT_TRUE(all<model::ReleaseGroup>(run(g.world, groups(), g.memory, 600)).empty());
  EXPECT_TRUE(g.memory.groups.empty());
}

// --- Giving back ---

struct Fleet {
  World world;
  model::PoolId pool;
  Fleet(int nodes, std::int64_t gpus = 8) {
    const auto offering = world.offering(8, 0, 10);
    pool = world.pool({offering, world.offering(4, 0, 4)}, 640);
    for (int i = 0; i < nodes; ++i) own(world.node(0, gpus), offering);
  }
  void own(NodeId id, model::OfferingId offering) {
    model::Node node = world.snapshot.nodes.at(id);
    node.pool = pool;
    node.offering = offering;
    world.snapshot.nodes.set(id, node);
  }
};

TEST(Consolidation, AnEmptyNodeGoesAfterItsHour) {
  Fleet fleet(1);
  Memory memory;
  const Decision early = run(fleet.world, whole_groups(), memory, 0);
  EXPECT_TRUE(ended(early).empty());
  EXPECT_TRUE(kept_for(early, model::ReasonCode::not_quiet_yet));
  EXPECT_TRUE(ended(run(fleet.world, whole_groups(), memory, 3599)).empty());
  EXPECT_EQ(ended(run(fleet.world, whole_groups(), memory, 3610)).size(), 1u);
  EXPECT_TRUE(ended(run(fleet.world, whole_groups(), memory, 3620)).empty()) << "told once";
  refused(memory, model::TerminateNode{NodeId{0}});
  EXPECT_EQ(ended(run(fleet.world, whole_groups(), memory, 3630)).size(), 1u);
}

TEST(Consolidation, WhenEmptyNeverEndsANodeWithPods) {
  Fleet fleet(2);
  fleet.world.bind(fleet.world.gang(1, 1, TopologyLevel::node), NodeId{0});
  Memory memory;
  run(fleet.world, whole_groups(), memory, 0);
  const auto gone = ended(run(fleet.world, whole_groups(), memory, 90'000));
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0].node, NodeId{1});
}

TEST(Consolidation, KarpentersDefaultEndsARunningReplicaThatWouldFitElsewhere) {
  Fleet fleet(2);
  fleet.world.bind(fleet.world.gang(4, 1, TopologyLevel::node), NodeId{0});
  fleet.world.bind(fleet.world.gang(4, 1, TopologyLevel::node), NodeId{1});
  Memory memory;
  const Decision decision = run(fleet.world, karpenter(), memory, 0);
  ASSERT_EQ(ended(decision).size(), 1u);
  EXPECT_EQ(name(decision.plan.actions[0].why.code), "node_underutilized");
}

TEST(Consolidation, FullNodesStay) {
  Fleet fleet(2);
  fleet.world.bind(fleet.world.gang(8, 1, TopologyLevel::node), NodeId{0});
  fleet.world.bind(fleet.world.gang(8, 1, TopologyLevel::node), NodeId{1});
  Memory memory;
  EXPECT_TRUE(run(fleet.world, karpenter(), memory, 0).plan.actions.empty());
}

TEST(Consolidation, BuysTheCheaperNodeFirstAndEndsTheOldOneOnceItIsThere) {
  Fleet fleet(1);
  fleet.world.bind(fleet.world.gang(4, 1, TopologyLevel::node), NodeId{0});
  Memory memory;
  const Decision buy = run(fleet.world, karpenter(), memory, 0);
  ASSERT_EQ(launches(buy).size(), 1u);
  EXPECT_EQ(launches(buy)[0].offering, model::OfferingId{1});
  EXPECT_TRUE(ended(buy).empty());
  fleet.own(fleet.world.node(0, 4), {1});
  const auto gone = ended(run(fleet.world, karpenter(), memory, 60));
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0].node, NodeId{0});
}

TEST(Consolidation, StaysInsideItsBudgetAndAboveTheMinimum) {
  Fleet fleet(20);
  Memory memory;
  Policy policy = karpenter();
  EXPECT_EQ(ended(run(fleet.world, policy, memory, 0)).size(), 2u) << "10 % of 20";
  EXPECT_TRUE(ended(run(fleet.world, policy, memory, 10)).empty()) << "two are still going";
  policy.min_nodes = 20;
  Memory other;
  EXPECT_TRUE(ended(run(fleet.world, policy, other, 0)).empty());
  policy.min_nodes = 22;
  EXPECT_EQ(launches(run(fleet.world, policy, other, 10)).size(), 2u);
}

TEST(Consolidation, ANodeThatAPodIsMeantForStays) {
  Fleet fleet(1);
  fleet.world.gang(4, 1, TopologyLevel::node);
  Memory memory;
  EXPECT_TRUE(ended(run(fleet.world, karpenter(), memory, 0)).empty());
}

TEST(ProvisionMemory, IsRefusedWhenItIsNotWhole) {
  EXPECT_FALSE(parse_memory("provision-memory/1 0"));
  EXPECT_FALSE(parse_memory(""));
  EXPECT_TRUE(parse_memory(to_text(Memory{})));
}

// --- What must hold always ---

/// A pool's GPUs, nodes and what is on its way counted.
GpuCount gpus_of(const World& world, model::PoolId pool) {
  GpuCount gpus = 0;
  world.snapshot.nodes.for_each(
      [&](NodeId, const model::Node& n) { gpus += n.pool == pool ? n.gpus.count / 1000 : 0; });
  world.snapshot.claims.for_each([&](model::ClaimId, const Claim& c) {
    gpus += c.pool == pool && c.phase != Claim::Phase::failed ? world.snapshot.catalog->offering(c.offering).gpus : 0;
  });
  return gpus;
}

RC_GTEST_PROP(Provision, KeepsTheLimitOverManyDecisionsAndRepeatsFromItsText, ()) {
  World world = testing::random_world();
  const auto a = world.offering(*rc::gen::element(1, 4, 8), 0, 9), b = world.offering(8, 1, 12);
  const GpuCount limit = *rc::gen::inRange<GpuCount>(0, 60);
  const auto pool = world.pool({a, b}, limit);
  Policy policy = *rc::gen::element(karpenter(), cluster_autoscaler(), whole_groups());
  policy.min_nodes = *rc::gen::inRange(0, 3);
  Memory memory;
  place::Memory placing;
  std::uint32_t group = 0;
  for (int step = 0; step < 8; ++step) {
    const Instant now = at(step * 11);
    const Index index = build(world.snapshot);
    const place::Policy& place_policy = policy.kind == Policy::Kind::group ? kGang : kFirstFit;
    const place::Decision placed = place::decide(index, world.snapshot, {}, place_policy, placing, now);
    Memory saved = parse_memory(to_text(memory)).value();
    RC_ASSERT(saved == memory);
    const Decision decision = decide(index, world.snapshot, placed, policy, memory, now);
    RC_ASSERT(plan_hash(decide(index, world.snapshot, placed, policy, saved, now).plan) == plan_hash(decision.plan));
    RC_ASSERT(to_text(saved) == to_text(memory));

    for (const model::TerminateNode& end : ended(decision)) {
      const bool when_empty = policy.consolidation.policy == ConsolidationPolicy::when_empty;
      RC_ASSERT(!when_empty || !index.pods_by_node.contains(end.node));
    }
    // The world answers some launches with claims, one of which may fail.
    for (const model::LaunchNodes& launch : launches(decision)) {
      RC_ASSERT(launch.count >= 1);
      const bool grouped = launch.hold > Duration{};
      for (std::int64_t i = 0; i < launch.count; ++i) {
        world.claim(launch.pool, launch.offering, Claim::Phase::requested, step * 11,
                    grouped ? model::ClaimGroupId{group} : model::ClaimGroupId{}, launch.within);
      }
      group += grouped ? 1 : 0;
    }
    RC_ASSERT(gpus_of(world, pool) <= std::max<GpuCount>(limit, 0));
    if (world.next_claim > 0 && *rc::gen::inRange(0, 3) == 0) {
      const model::ClaimId id{*rc::gen::inRange<std::uint32_t>(0, world.next_claim)};
      Claim claim = world.snapshot.claims.at(id);
      claim.phase = Claim::Phase::failed;
      world.snapshot.claims.set(id, claim);
    }
  }
}

}  // namespace
}  // namespace capstan::decide::provision
