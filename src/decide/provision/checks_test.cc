#include "decide/provision/checks.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "decide/testing/both_layers.h"

namespace capstan::decide::provision {
namespace {

/// One node with a pod and one empty node of a pool that may have two nodes.
struct Cycle {
  Cycle() : offering(world.offering(8, 0, 10)), pool(world.pool({offering}, 16)) {
    for (NodeId* node : {&used, &empty}) {
      *node = world.node(0);
      model::Node row = world.snapshot.nodes.at(*node);
      row.pool = pool;
      row.offering = offering;
      world.snapshot.nodes.set(*node, row);
    }
    world.bind(world.gang(1, 1, TopologyLevel::node), used);
    index = fleet::build(world.snapshot);
    context.emplace(index, world.snapshot, placed, policy, memory, at(100), std::vector<model::Action>());
  }
  std::string after(const model::Action& action) {
    context->decision.plan.actions.push_back(action);
    return broken_invariant(*context);
  }

  World world;
  model::OfferingId offering;
  model::PoolId pool;
  NodeId used, empty;
  Index index;
  place::Decision placed;
  Policy policy = whole_groups();
  Memory memory;
  std::optional<Context> context;
};

TEST(ProvisionChecks, AnEmptyNodeMayBeTerminatedOnce) {
  Cycle cycle;
  EXPECT_EQ(cycle.after({model::TerminateNode{cycle.empty}, {}}), "2: the termination of a node is not remembered");
  cycle.memory.terminating.push_back({cycle.empty, at(100)});
  EXPECT_EQ(broken_invariant(*cycle.context), "");
  EXPECT_EQ(cycle.after({model::TerminateNode{cycle.empty}, {}}), "2: a node is terminated twice");
}

TEST(ProvisionChecks, ANodeWithAPodOrForAPodIsKept) {
  Cycle cycle;
  cycle.memory.terminating = {{cycle.used, at(100)}, {cycle.empty, at(100)}};
  EXPECT_EQ(cycle.after({model::TerminateNode{cycle.used}, {}}), "2: a node with pods is terminated");
  Cycle other;
  other.memory.terminating.push_back({other.empty, at(100)});
  other.context->nominated.insert(other.empty);
  EXPECT_EQ(other.after({model::TerminateNode{other.empty}, {}}), "2: a node on which a pod is expected is terminated");
}

TEST(ProvisionChecks, ALaunchMustFitTheLimitsAndTheBackoffs) {
  Cycle cycle;
  const model::LaunchNodes launch{
      .pool = cycle.pool, .offering = cycle.offering, .domain = {}, .count = 1, .hold = {}, .gang = {}};
  cycle.context->capacity.launch(launch, {}, cycle.context->decision, cycle.memory);
  EXPECT_EQ(broken_invariant(*cycle.context), "4: a launch exceeds a limit") << "the pool has all of its 16 GPUs";
  cycle.memory.backoffs.push_back({cycle.offering, 1, at(90), at(200)});
  EXPECT_EQ(broken_invariant(*cycle.context), "4: an offering is bought while it is in backoff");
}

TEST(ProvisionChecks, AGroupIsReleasedOnlyIfMemoryMarksIt) {
  Cycle cycle;
  EXPECT_EQ(cycle.after({model::ReleaseGroup{{3}}, {}}),
            "6: a group is released that memory does not mark as released");
}

}  // namespace
}  // namespace capstan::decide::provision
