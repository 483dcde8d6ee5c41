#include "decide/place/place.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "decide/place/fit.h"
#include "fleet/testing/world.h"

namespace capstan::decide::place {
namespace {

using fleet::testing::at;
using fleet::testing::World;
using model::Gang;

const Policy kFirstFit{.kind = Policy::Kind::first_fit};
const Policy kGang{.kind = Policy::Kind::gang};

Decision run(const World& world, const Policy& policy, std::vector<model::PlannedGang> planned = {}) {
  Memory memory;
  Index index = fleet::build(world.snapshot);
  return decide(index, world.snapshot, planned, policy, memory, at(100));
}

/// Returns the node of each pod that the plan binds.
std::map<PodId, NodeId> bindings(const Decision& decision) {
  std::map<PodId, NodeId> found;
  for (const model::Action& action : decision.plan.actions) {
    for (const auto& b : std::get<model::BindPods>(action.effect).bindings) found[b.pod] = b.node;
  }
  return found;
}

TEST(FirstFit, OfTwoGangsOfFourPodsOnSixGpusOneIsBoundInPart) {
  World world;
  world.node(0, 4);
  world.node(1, 2);
  const GangId a = world.gang(4, 1, TopologyLevel::node, 0), b = world.gang(4, 1, TopologyLevel::node, 0);
  const Decision decision = run(world, kFirstFit);
  EXPECT_EQ(bindings(decision).size(), 6u);
  ASSERT_EQ(decision.verdicts.size(), 2u);
  EXPECT_EQ(decision.verdicts[0].kind, PlacementResult::Kind::placed);
  EXPECT_EQ(decision.verdicts[1].kind, PlacementResult::Kind::cannot_fit_now) << "although two of its pods are bound";
  EXPECT_TRUE(decision.shortfalls.empty()) << "this policy reports no missing room";
  EXPECT_EQ(decision.verdicts[0].gang, a);
  EXPECT_EQ(decision.verdicts[1].gang, b);
}

TEST(GangPlacement, WithRoomForSevenOfEightPodsNoneIsBound) {
  World world;
  world.node(0, 7);
  world.pool({world.offering(8, 0, 10)}, 64);
  world.gang(8, 1, TopologyLevel::nvlink);
  const Decision decision = run(world, kGang);
  EXPECT_TRUE(decision.plan.actions.empty());
  ASSERT_EQ(decision.shortfalls.size(), 1u);
  const Shortfall& lack = decision.shortfalls[0];
  EXPECT_EQ(lack.short_by, whole_gpus(1));
  EXPECT_EQ(lack.needed, whole_gpus(8));
  EXPECT_EQ(lack.best_domain, world.nvlink(0));
  EXPECT_EQ(sentence(decision.verdicts[0].why),
            "the gang is short of 1 GPU: it needs 8 in one NVLink domain, and the best fit, domain 3, has 7 free");
}

TEST(GangPlacement, FreeGpusInTwoRacksDoNotFitARackGang) {
  World world;
  world.node(0, 4);  // rack 0
  world.node(2, 4);  // rack 1
  world.pool({world.offering(8, 0, 10)}, 64);
  world.gang(8, 1, TopologyLevel::rack, 0);
  EXPECT_TRUE(run(world, kGang).plan.actions.empty());
  world.gang(8, 1, TopologyLevel::zone, 1);
  EXPECT_EQ(bindings(run(world, kGang)).size(), 8u) << "both racks are in one zone";
}

TEST(GangPlacement, TakesTheFullestNodeThatFits) {
  World world;
  world.node(0);
  const NodeId used = world.node(1);
  world.bind(world.gang(4, 1, TopologyLevel::node), used);
  const GangId gang = world.gang(4, 1, TopologyLevel::node, 5);
  for (const auto& [pod, node] : bindings(run(world, kGang))) EXPECT_EQ(node, used);
  EXPECT_EQ(bindings(run(world, kGang)).size(), world.snapshot.gangs.at(gang).pods.size());
}

TEST(GangPlacement, FillsNodesInUseBeforeUntouchedOnes) {
  World world;
  const NodeId a = world.node(0), whole = world.node(0), b = world.node(0);
  world.bind(world.gang(6, 1, TopologyLevel::node), a);
  world.bind(world.gang(7, 1, TopologyLevel::node), b);
  world.gang(3, 1, TopologyLevel::nvlink, 5);
  for (const auto& [pod, node] : bindings(run(world, kGang))) EXPECT_NE(node, whole);
}

TEST(GangPlacement, ABlockedGangLeavesRoomToYoungerOnes) {
  World world;
  world.node(0, 4);
  world.pool({world.offering(8, 0, 10)}, 64);
  world.gang(8, 1, TopologyLevel::node, 0);
  const GangId small = world.gang(4, 1, TopologyLevel::node, 1);
  const Decision decision = run(world, kGang);
  ASSERT_EQ(decision.plan.actions.size(), 1u);
  EXPECT_EQ(std::get<model::BindPods>(decision.plan.actions[0].effect).gang, small);
}

TEST(GangPlacement, AGangLargerThanAnyDomainThatCanBeBoughtNeverFits) {
  World world;
  world.node(0);
  world.pool({world.offering(8, 0, 10)}, 64);
  world.gang(16, 1, TopologyLevel::node);
  const Decision decision = run(world, kGang);
  ASSERT_EQ(decision.verdicts.size(), 1u);
  EXPECT_EQ(decision.verdicts[0].kind, PlacementResult::Kind::never_fits);
  EXPECT_TRUE(decision.shortfalls.empty()) << "no node is bought for it";
}

TEST(GangPlacement, TheRestOfAGangFollowsItsBoundPods) {
  World world;
  world.node(0);
  const NodeId there = world.node(2, 4);
  const GangId gang = world.gang(4, 1, TopologyLevel::rack);
  world.bind_pod(gang, 0, there);
  for (const auto& [pod, node] : bindings(run(world, kGang))) EXPECT_EQ(node, there);
}

TEST(GangPlacement, APlannedReplicaTakesRoomAndLeavesAShortfall) {
  World world;
  world.node(0, 4);
  world.pool({world.offering(8, 0, 10)}, 64);
  world.catalog().services[0].workload.gpus_per_replica = 4;
  world.catalog().services[0].workload.pods = 4;
  const Decision decision = run(world, kGang, {{{0}, 7, at(1)}, {{0}, 8, at(1)}});
  EXPECT_TRUE(decision.plan.actions.empty());
  ASSERT_EQ(decision.shortfalls.size(), 1u) << "the first one fits";
  EXPECT_EQ(decision.shortfalls[0].ordinal, 8u);
  EXPECT_FALSE(decision.shortfalls[0].gang.valid());
  EXPECT_EQ(decision.nominated.size(), 1u);
}

TEST(Placement, ABindingInFlightIsNotDecidedTwice) {
  World world;
  world.node(0);
  const GangId gang = world.gang(4, 1, TopologyLevel::node);
  Index index = fleet::build(world.snapshot);
  Memory memory;
  EXPECT_EQ(decide(index, world.snapshot, {}, kGang, memory, at(0)).plan.actions.size(), 1u);
  EXPECT_TRUE(decide(index, world.snapshot, {}, kGang, memory, at(1)).plan.actions.empty());
  forget(memory, gang);
  EXPECT_EQ(decide(index, world.snapshot, {}, kGang, memory, at(2)).plan.actions.size(), 1u);
  EXPECT_EQ(decide(index, world.snapshot, {}, kGang, memory, at(40)).plan.actions.size(), 1u)
      << "the binding was not confirmed in time";
}

TEST(Placement, ABindingStaysAssumedWhileItsActionIsInFlight) {
  World world;
  world.node(0);
  const GangId gang = world.gang(4, 1, TopologyLevel::node);
  Index index = fleet::build(world.snapshot);
  Memory memory;
  decide(index, world.snapshot, {}, kGang, memory, at(0));
  keep_assumed(memory, std::vector{gang}, at(60));
  EXPECT_TRUE(decide(index, world.snapshot, {}, kGang, memory, at(40)).plan.actions.empty());
  keep_assumed(memory, std::vector{GangId{gang.value + 1}}, at(99));
  EXPECT_EQ(decide(index, world.snapshot, {}, kGang, memory, at(60)).plan.actions.size(), 1u)
      << "the call named another gang";
}

/// If a node is given back, its pods end with it, so no pod may be bound to it. scripts/swarm found this in world
/// 201:5648.
TEST(Placement, ANodeThatIsBeingGivenBackGetsNoPod) {
  for (const Policy& policy : {kFirstFit, kGang}) {
    World world;
    const NodeId leaving = world.node(0), staying = world.node(0);
    world.gang(4, 1, TopologyLevel::node);
    Index index = fleet::build(world.snapshot);
    const auto placed = [&](std::vector<NodeId> nodes) {
      Memory memory;
      return bindings(decide(index, world.snapshot, {}, policy, memory, at(0),
                             {.leaving = {.nodes = std::move(nodes), .groups = {}}}));
    };
    EXPECT_EQ(placed({}).begin()->second, leaving) << "the first node is chosen unless it leaves";
    for (const auto& [pod, node] : placed({leaving})) EXPECT_EQ(node, staying);
    EXPECT_EQ(placed({leaving}).size(), 4u);
    EXPECT_TRUE(placed({leaving, staying}).empty());
  }
}

// --- Properties ---

/// Checks that no node gets more than it had, and that every pod goes to an open node of its kind that admits it.
void check_room(const World& world, const Index& index, const Decision& decision) {
  std::map<NodeId, MilliGpu> taken;
  std::map<NodeId, model::Resources> available;
  for (const auto& [pod, node] : bindings(decision)) {
    const model::Node& row = world.snapshot.nodes.at(node);
    const model::Pod& bound = world.snapshot.pods.at(pod);
    const model::PodSet& set = world.snapshot.gangs.at(bound.gang).spec.set(bound.set);
    const model::PodClassId pod_class = set.pod_class;
    const model::Eligibility& eligibility = world.snapshot.catalog->eligibility;
    const model::PodClass* pods = eligibility.find(pod_class);
    const bool is_admitted = pods == nullptr || pods->admits(row.node_class);
    RC_ASSERT(is_admitted);
    if (row.available) {
      model::Resources& left = available.try_emplace(node, *row.available).first->second;
      RC_ASSERT(model::times_in(eligibility.requests(pod_class), left, 1) == 1);
      model::take_from(left, eligibility.requests(pod_class));
    }
    taken[node] += world.snapshot.pods.at(pod).gpus;
    RC_ASSERT(world.snapshot.nodes.at(node).phase == model::Node::Phase::ready);
    const bool has_kind = world.snapshot.nodes.at(node).gpu == set.gpu || set.gpus_per_pod == MilliGpu{};
    RC_ASSERT(has_kind);
  }
  for (const auto& [node, gpus] : taken) RC_ASSERT(gpus <= index.rooms.find(node)->free.sum);
}

RC_GTEST_PROP(Placement, NoNodeIsOversubscribedAndTheTextRepeatsIt, ()) {
  const World world = fleet::testing::random_world();
  Index index = fleet::build(world.snapshot);
  for (const Policy& policy : {kFirstFit, kGang}) {
    Memory memory;
    for (int cycle = 0; cycle < 3; ++cycle) {
      Memory saved = parse_memory(to_text(memory)).value();
      const Decision decision = decide(index, world.snapshot, {}, policy, memory, at(cycle));
      check_room(world, index, decision);
      RC_ASSERT(decision.verdicts.size() == index.pending_gangs.size());
      const Decision again = decide(index, world.snapshot, {}, policy, saved, at(cycle));
      RC_ASSERT(plan_hash(again.plan) == plan_hash(decision.plan));
      RC_ASSERT(saved == memory);
    }
  }
}

RC_GTEST_PROP(GangPlacement, NeverPartialAndNeverAcrossDomains, ()) {
  const World world = fleet::testing::random_world();
  const Decision decision = run(world, kGang);
  for (const model::Action& action : decision.plan.actions) {
    const auto& bind = std::get<model::BindPods>(action.effect);
    const Gang& gang = world.snapshot.gangs.at(bind.gang);
    RC_ASSERT(bind.bindings.size() == gang.pods.size());
    const auto place = [&](NodeId id) {
      return gang.spec.required_level == TopologyLevel::node
                 ? id.value
                 : world.snapshot.nodes.at(id).domains.domain_at(gang.spec.required_level).value;
    };
    for (const auto& b : bind.bindings) RC_ASSERT(place(b.node) == place(bind.bindings.front().node));
  }
}

/// The result of by_brute_force(), a slow version of best_fit() that counts every domain of the level from the snapshot
/// and keeps the fullest one that takes all pods.
struct BruteForceFit {
  bool fits = false;
  std::uint32_t domain = 0;
  std::int64_t most = 0;  // pods that the best domain takes
};
BruteForceFit by_brute_force(const model::Snapshot& snapshot, const Request& request) {
  struct Domain {
    MilliGpu free;
    std::int64_t pods = 0;
  };
  std::map<std::uint32_t, Domain> domains;
  snapshot.nodes.for_each([&](NodeId id, const model::Node& node) {
    if (node.phase != model::Node::Phase::ready || node.gpu != request.gpu) return;
    MilliGpu free = node.gpus;
    snapshot.pods.for_each([&](PodId, const model::Pod& pod) {
      if (pod.node == id) free -= pod.gpus;
    });
    const bool alone = request.level == TopologyLevel::node;
    Domain& domain = domains[alone ? id.value : node.domains.domain_at(request.level).value];
    domain.free += free;
    std::int64_t pods = free.count / request.gpus_per_pod.count;
    if (request.pod_class != nullptr && !request.pod_class->admits(node.node_class)) pods = 0;
    if (request.pod_class != nullptr && node.available) {
      pods = model::times_in(request.pod_class->requests, *node.available, pods);
    }
    domain.pods += pods;
  });
  BruteForceFit expected;
  MilliGpu fullest;
  for (const auto& [id, domain] : domains) {
    expected.most = std::max(expected.most, std::min(domain.pods, request.pods));
    if (domain.pods < request.pods || (expected.fits && domain.free >= fullest)) continue;
    expected.fits = true;
    expected.domain = id;
    fullest = domain.free;
  }
  return expected;
}

RC_GTEST_PROP(GangPlacement, EqualsABruteForceSearch, ()) {
  const World world = fleet::testing::random_world();
  const model::Eligibility& eligibility = world.snapshot.catalog->eligibility;
  Index index = fleet::build(world.snapshot);
  const Request request{.gpu = {0},
                        .level = static_cast<TopologyLevel>(*rc::gen::inRange(0, 5)),
                        .pods = *rc::gen::inRange<std::int64_t>(1, 20),
                        .gpus_per_pod = whole_gpus(*rc::gen::element<std::int64_t>(1, 2, 4)),
                        .pod_class = eligibility.find({*rc::gen::inRange<std::uint32_t>(0, 4)})};
  const Fit fit = best_fit(index.rooms, request);
  const BruteForceFit expected = by_brute_force(world.snapshot, request);
  RC_ASSERT(fit.nodes.empty() == !expected.fits);
  RC_ASSERT(fit.best_pods == expected.most);
  if (!expected.fits) return;
  const std::uint32_t domain = request.level == TopologyLevel::node ? fit.nodes.front().value : fit.best_domain.value;
  RC_ASSERT(domain == expected.domain);
}

RC_GTEST_PROP(GangPlacement, OpensAsFewWholeNodesAsAnyChoiceWould, ()) {
  World world;
  const int nodes = *rc::gen::inRange(1, 6);
  for (int i = 0; i < nodes; ++i) {
    const NodeId node = world.node(0);
    const auto used = *rc::gen::inRange<std::int64_t>(0, 9);
    if (used > 0) world.bind(world.gang(used, 1, TopologyLevel::node), node);
  }
  const Request request{.gpu = {0},
                        .level = TopologyLevel::nvlink,
                        .pods = *rc::gen::inRange<std::int64_t>(1, 24),
                        .gpus_per_pod = whole_gpus(1)};
  Index index = fleet::build(world.snapshot);
  const Fit fit = best_fit(index.rooms, request);
  if (fit.nodes.empty()) return;
  // The loop tries every subset of nodes that takes all pods.
  int fewest = nodes + 1;
  for (int subset = 1; subset < (1 << nodes); ++subset) {
    std::int64_t room = 0;
    int opened = 0;
    for (int i = 0; i < nodes; ++i) {
      if ((subset >> i & 1) == 0) continue;
      const NodeRoom& node = *index.rooms.find({static_cast<std::uint32_t>(i)});
      room += node.free.whole();
      opened += node.free.sum == node.gpus ? 1 : 0;
    }
    if (room >= request.pods) fewest = std::min(fewest, opened);
  }
  std::set<NodeId> opened;
  for (NodeId id : fit.nodes) {
    if (index.rooms.find(id)->free.sum == index.rooms.find(id)->gpus) opened.insert(id);
  }
  RC_ASSERT(static_cast<int>(opened.size()) == fewest);
}

/// A gang of three pods, one of which has a node, without room for the other two.
struct BrokenGang {
  BrokenGang() {
    const NodeId node = world.node(0, 4);
    world.pool({world.offering(8, 0, 10)}, 64);
    gang = world.gang(3, 2, TopologyLevel::node);
    world.bind_pod(gang, 0, node);
    world.bind(world.gang(1, 2, TopologyLevel::node), node);
  }
  /// Decides and returns the evicted pods.
  std::vector<PodId> look(std::int64_t second) {
    Index index = fleet::build(world.snapshot);
    last = decide(index, world.snapshot, {}, kGang, memory, at(second));
    std::vector<PodId> evicted;
    for (const model::Action& action : last.plan.actions) {
      evicted.push_back(std::get<model::EvictPod>(action.effect).pod);
    }
    return evicted;
  }

  World world;
  GangId gang;
  Memory memory;
  Decision last;
};

TEST(Place, ThePodsOfABrokenGangAreEvictedAfterItsGracePeriod) {
  BrokenGang broken;
  EXPECT_TRUE(broken.look(0).empty());
  EXPECT_EQ(broken.last.shortfalls.size(), 1u) << "until then the rest asks for room";
  EXPECT_TRUE(broken.look(59).empty());
  EXPECT_EQ(broken.look(60), std::vector{PodId{0}});
  EXPECT_EQ(
      sentence(broken.last.verdicts[0].why),
      "for 1 min only 1 of the 3 pods that the gang needs had a node: it is evicted, so that the gang can be placed "
      "whole");
  EXPECT_TRUE(broken.look(61).empty()) << "the pod was evicted a second ago";
  EXPECT_EQ(broken.look(120).size(), 1u) << "the first eviction had no effect";
  EXPECT_EQ(parse_memory(to_text(broken.memory)).value(), broken.memory);
}

TEST(Place, AGangWithEnoughBoundPodsIsNotBroken) {
  BrokenGang elastic;
  model::Gang row = elastic.world.snapshot.gangs.at(elastic.gang);
  row.spec.pods.minimum = 1;
  elastic.world.snapshot.gangs.set(elastic.gang, row);
  EXPECT_TRUE(elastic.look(0).empty());
  EXPECT_TRUE(elastic.look(1'000).empty());
}

TEST(Place, APodOnANodeThatIsNotInTheSnapshotKeepsRunning) {
  BrokenGang elastic;
  model::Gang row = elastic.world.snapshot.gangs.at(elastic.gang);
  row.spec.pods.minimum = 2;
  elastic.world.snapshot.gangs.set(elastic.gang, row);
  model::Pod unseen = elastic.world.snapshot.pods.at(row.pods[1]);
  unseen.phase = model::Pod::Phase::ready;
  elastic.world.snapshot.pods.set(row.pods[1], unseen);
  EXPECT_TRUE(elastic.look(0).empty());
  EXPECT_TRUE(elastic.look(1'000).empty());
  EXPECT_EQ(elastic.last.verdicts[0].why.code, model::ReasonCode::nodes_not_seen);
}

TEST(Place, AGangThatServesIsNotBroken) {
  BrokenGang serving;
  model::Pod first = serving.world.snapshot.pods.at({0});
  first.phase = model::Pod::Phase::ready;
  serving.world.snapshot.pods.set({0}, first);
  EXPECT_TRUE(serving.look(0).empty());
  EXPECT_TRUE(serving.look(1'000).empty());
}

TEST(Place, ABrokenGangWaitsForNodesThatAreOnTheirWay) {
  BrokenGang broken;
  EXPECT_TRUE(broken.look(0).empty());
  const model::ClaimId claim = broken.world.claim({0}, {0}, model::Claim::Phase::launched, 30);
  EXPECT_TRUE(broken.look(100).empty());
  broken.world.snapshot.claims.erase(claim);
  EXPECT_EQ(broken.look(101).size(), 1u);
}

TEST(Place, AGangWhoseLostPodsDoNotReturnIsBroken) {
  BrokenGang lost;
  model::Gang row = lost.world.snapshot.gangs.at(lost.gang);
  for (std::size_t i = 1; i < 3; ++i) lost.world.snapshot.pods.erase(row.pods[i]);
  row.pods.resize(1);
  row.spec.pods.minimum = 3;
  lost.world.snapshot.gangs.set(lost.gang, row);
  EXPECT_TRUE(lost.look(0).empty());
  EXPECT_EQ(lost.last.verdicts[0].why.code, model::ReasonCode::gang_broken);
  EXPECT_EQ(lost.look(60), std::vector{PodId{0}});
}

TEST(Place, AGangGoesOnlyToNodesThatAdmitItsPods) {
  World world;
  const NodeId tainted = world.node(0), open = world.node(1);
  world.classify(tainted, model::NodeClassId{0});
  world.classify(open, model::NodeClassId{1});
  world.classify(world.gang(1, 8, TopologyLevel::node), world.pod_class({false, true}));
  Index index = fleet::build(world.snapshot);
  const Index before = index;
  Memory memory;
  const Decision decision = decide(index, world.snapshot, {}, {}, memory, fleet::testing::at(0));
  ASSERT_EQ(decision.plan.actions.size(), 1u);
  EXPECT_EQ(std::get<model::BindPods>(decision.plan.actions[0].effect).bindings[0].node, open);
  EXPECT_EQ(index, before) << "a decision leaves the index as it was";
}

TEST(Place, TwoGangsOfOneTickDoNotTakeTheSameMemory) {
  for (const auto level : {TopologyLevel::node, TopologyLevel::zone}) {
    World world;
    world.set_available(world.node(0), {.cpu_milli = 32'000, .memory_mib = 100, .pod_slots = 110});
    const model::PodClassId large = world.pod_class({}, {.cpu_milli = 1'000, .memory_mib = 60, .pod_slots = 1});
    for (const std::int64_t at_s : {0, 1}) world.classify(world.gang(1, 2, level, at_s), large);
    Index index = fleet::build(world.snapshot);
    Memory memory;
    const Decision decision = decide(index, world.snapshot, {}, {}, memory, fleet::testing::at(2));
    ASSERT_EQ(decision.verdicts.size(), 2u);
    EXPECT_EQ(decision.verdicts[0].kind, PlacementResult::Kind::placed);
    EXPECT_EQ(decision.verdicts[1].kind, PlacementResult::Kind::cannot_fit_now);
  }
}

TEST(Place, ABindingThatNoSnapshotShowsStillTakesItsMemory) {
  World world;
  world.set_available(world.node(0), {.memory_mib = 100, .pod_slots = 110});
  const model::PodClassId large = world.pod_class({}, {.memory_mib = 60, .pod_slots = 1});
  world.classify(world.gang(1, 2, TopologyLevel::node), large);
  Memory memory;
  Index index = fleet::build(world.snapshot);
  decide(index, world.snapshot, {}, {}, memory, fleet::testing::at(2));
  world.classify(world.gang(1, 2, TopologyLevel::node, 3), large);
  index = fleet::build(world.snapshot);
  const Decision decision = decide(index, world.snapshot, {}, {}, memory, fleet::testing::at(4));
  ASSERT_EQ(decision.verdicts.size(), 2u);
  EXPECT_EQ(decision.verdicts[0].kind, PlacementResult::Kind::assumed);
  EXPECT_EQ(decision.verdicts[1].kind, PlacementResult::Kind::cannot_fit_now);
}

TEST(Place, AGangOfAnotherSchedulerGetsNoVerdict) {
  World world;
  world.node(0);
  world.gang(1, 1, TopologyLevel::node);
  world.catalog().services[0].workload.placed_elsewhere = true;
  Index index = fleet::build(world.snapshot);
  Memory memory;
  const Decision decision = decide(index, world.snapshot, {}, {}, memory, fleet::testing::at(0));
  EXPECT_TRUE(decision.plan.actions.empty());
  EXPECT_TRUE(decision.verdicts.empty());
}

}  // namespace
}  // namespace capstan::decide::place
