#include "decide/place/checks.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <vector>

#include "decide/testing/placement.h"

namespace capstan::decide::place {
namespace {

/// Two nodes with four GPUs each in different NVLink domains, and two gangs of three pods with one GPU each that want
/// one domain. The second gang is in a queue with a limit of two GPUs. Each test states the bindings; everything else
/// is as a decision makes it.
struct Cycle {
  /// @param minimum  pods that the first gang needs; 0: all of them
  explicit Cycle(const Policy& with = {}, std::int64_t minimum = 0) : policy(with) {
    a = world.node(0, 4);
    b = world.node(2, 4);
    first = world.gang(3, 1, TopologyLevel::nvlink, 0);
    second = world.gang(3, 1, TopologyLevel::nvlink, 1);
    world.enqueue(second, world.queue(2));
    model::Gang needs_more = world.snapshot.gangs.at(first);
    needs_more.spec.pods.minimum = minimum;
    world.snapshot.gangs.set(first, needs_more);
    index = fleet::build(world.snapshot);
    index.assumed.update(index.rooms, world.snapshot.catalog->eligibility, {}, {});
    context.emplace(index, world.snapshot, std::span<const model::PlannedGang>(), policy, memory,
                    fleet::testing::at(100), leaving);
  }
  /// Binds the pods of a gang to these nodes without checking any limit. Returns the invariant that this breaks, or an
  /// empty text.
  std::string bind(std::size_t gang, const std::vector<NodeId>& nodes) {
    PendingGang& row = context->gangs.at(gang);
    model::BindPods bind{.gang = row.id(), .bindings = {}};
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      bind.bindings.push_back({row.pods.without_node.at(i % row.pods.without_node.size()), nodes[i]});
      context->decision.nominated.insert(nodes[i]);
    }
    row.actions.push_back({bind, {}});
    row.decide(PlacementResult::Kind::placed, {});
    return broken_invariant(*context);
  }

  fleet::testing::World world;
  NodeId a, b;
  GangId first, second;
  Policy policy;
  Memory memory;
  LeavingNodes leaving;
  Index index;
  std::optional<Context> context;
};

TEST(PlaceChecks, AWholeGangInOneDomainIsRight) {
  Cycle cycle;
  EXPECT_EQ(cycle.bind(0, {cycle.a, cycle.a, cycle.a}), "");
}

TEST(PlaceChecks, WhatIsWrongIsNamed) {
  const auto bound = [](std::size_t gang, const std::function<std::vector<NodeId>(const Cycle&)>& nodes) {
    Cycle cycle;
    return cycle.bind(gang, nodes(cycle));
  };
  using C = const Cycle&;
  EXPECT_EQ(bound(0, [](C c) { return std::vector{c.a, c.a}; }), "1: a gang is bound in part");
  EXPECT_EQ(bound(0, [](C c) { return std::vector{c.a, c.a, c.b}; }),
            "1: a gang is bound to nodes of different domains");
  EXPECT_EQ(bound(0, [](C c) { return std::vector{c.a, c.a, c.a, c.a}; }), "1: a pod is bound twice");
  EXPECT_EQ(bound(0, [](C) { return std::vector<NodeId>(3, {9}); }), "4: a pod is bound to a node that takes no pods");
  EXPECT_EQ(bound(1, [](C c) { return std::vector{c.a, c.a, c.a}; }), "4: a queue holds more than its limit");
}

TEST(PlaceChecks, AGangWithFewerPodsThanItNeedsIsNotBound) {
  Cycle cycle({}, 5);
  EXPECT_EQ(cycle.bind(0, {cycle.a, cycle.a, cycle.a}), "1: a gang is bound below its minimum");
}

TEST(PlaceChecks, TwoGangsMayNotShareTheGpusOfANode) {
  Cycle cycle;
  cycle.bind(0, {cycle.a, cycle.a, cycle.a});
  EXPECT_EQ(cycle.bind(1, {cycle.a, cycle.a, cycle.a}), "4: more GPUs are bound on a node than it has free");
}

TEST(PlaceChecks, WhatIsLeftOfTwoGpusIsNotOneGpu) {
  Cycle cycle;
  NodeRoom room = *cycle.index.rooms.find(cycle.a);
  room.free = {.sum = whole_gpus(3), .partial = {{500}, {500}}};
  cycle.index.rooms.set(cycle.a, room);
  EXPECT_EQ(cycle.bind(0, {cycle.a, cycle.a, cycle.a}), "4: more GPUs are bound on a node than it has free");
}

TEST(PlaceChecks, AResultWithoutABindingIsNoPlacement) {
  Cycle cycle;
  cycle.context->gangs[0].decide(PlacementResult::Kind::placed, {});
  EXPECT_EQ(broken_invariant(*cycle.context), "9: a gang is said to be placed and has no binding");
}

}  // namespace
}  // namespace capstan::decide::place
