// Tests of the passes that give nodes back.
#include "decide/provision/give_back.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "decide/provision/passes.h"

#include "decide/testing/both_layers.h"

namespace capstan::decide::provision {
namespace {

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

TEST(Consolidation, AnEmptyNodeIsTerminatedAfterAnHour) {
  Fleet fleet(1);
  Memory memory;
  const Decision early = run(fleet.world, whole_groups(), memory, 0);
  EXPECT_TRUE(ended(early).empty());
  EXPECT_TRUE(kept_for(early, model::ReasonCode::not_quiet_yet));
  EXPECT_TRUE(ended(run(fleet.world, whole_groups(), memory, 3599)).empty());
  EXPECT_EQ(ended(run(fleet.world, whole_groups(), memory, 3610)).size(), 1u);
  EXPECT_TRUE(ended(run(fleet.world, whole_groups(), memory, 3620)).empty()) << "the termination is submitted once";
  refused(memory, model::TerminateNode{NodeId{0}});
  EXPECT_EQ(ended(run(fleet.world, whole_groups(), memory, 3630)).size(), 1u);
}

TEST(Consolidation, ALostTerminationIsRepeated) {
  Fleet fleet(1);
  Memory memory;
  run(fleet.world, whole_groups(), memory, 0);
  EXPECT_EQ(ended(run(fleet.world, whole_groups(), memory, 3600)).size(), 1u);
  EXPECT_TRUE(ended(run(fleet.world, whole_groups(), memory, 3659)).empty());
  EXPECT_EQ(ended(run(fleet.world, whole_groups(), memory, 3670)).size(), 1u);
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

TEST(Consolidation, FullNodesAreNotTerminated) {
  Fleet fleet(2);
  fleet.world.bind(fleet.world.gang(8, 1, TopologyLevel::node), NodeId{0});
  fleet.world.bind(fleet.world.gang(8, 1, TopologyLevel::node), NodeId{1});
  Memory memory;
  EXPECT_TRUE(run(fleet.world, karpenter(), memory, 0).plan.actions.empty());
}

TEST(Consolidation, ReplacesANodeOnlyAfterTheCheaperOneIsReady) {
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
  EXPECT_TRUE(ended(run(fleet.world, policy, memory, 10)).empty()) << "two nodes are still terminating";
  policy.min_nodes = 20;
  Memory other;
  EXPECT_TRUE(ended(run(fleet.world, policy, other, 0)).empty());
  policy.min_nodes = 22;
  EXPECT_EQ(launches(run(fleet.world, policy, other, 10)).size(), 2u);
}

TEST(Consolidation, ThePoolsOwnBudgetsReplaceThatOfThePolicy) {
  struct Row {
    const char* what;
    std::vector<model::DisruptionBudget> budgets;
    std::size_t ended;
  };
  const Row rows[] = {
      {"none applies", {}, 20},
      {"a number", {{.nodes = 3}}, 3},
      {"a share and a number", {{.share_ppm = 250'000}, {.nodes = 9}}, 5},
      {"a freeze", {{.nodes = 0}}, 0},
  };
  for (const Row& row : rows) {
    Fleet fleet(20);
    fleet.world.catalog().pools[fleet.pool.value].budgets = row.budgets;
    Memory memory;
    const Decision decision = run(fleet.world, karpenter(), memory, 0);
    EXPECT_EQ(ended(decision).size(), row.ended) << row.what;
    EXPECT_EQ(kept_for(decision, model::ReasonCode::pool_budget), row.ended < 20) << row.what;
  }
}

TEST(Consolidation, ATerminatingNodeDoesNotCountTowardsTheMinimum) {
  Fleet fleet(3);
  Policy policy = karpenter();
  policy.consolidation.budget_percent = 100;
  policy.min_nodes = 2;
  Memory memory;
  EXPECT_EQ(ended(run(fleet.world, policy, memory, 0)).size(), 1u);
  EXPECT_TRUE(ended(run(fleet.world, policy, memory, 10)).empty())
      << "two nodes remain, even if the snapshot shows more";
  policy.min_nodes = 1;
  Memory other;
  EXPECT_EQ(ended(run(fleet.world, policy, other, 0)).size(), 2u);
}

TEST(Consolidation, ANominatedNodeIsNotTerminated) {
  Fleet fleet(1);
  fleet.world.gang(4, 1, TopologyLevel::node);
  Memory memory;
  EXPECT_TRUE(ended(run(fleet.world, karpenter(), memory, 0)).empty());
}

TEST(Consolidation, EachPassCanBeSwitchedOff) {
  const auto off = [](Policy policy, std::string pass) {
    policy.off.insert(std::move(pass));
    return policy;
  };
  Memory memory;
  EXPECT_TRUE(ended(run(Fleet(1).world, off(karpenter(), "give_back_empty"), memory, 0)).empty());

  Fleet half_used(2);
  for (const NodeId node : {NodeId{0}, NodeId{1}})
    half_used.world.bind(half_used.world.gang(4, 1, TopologyLevel::node), node);
  Memory other;
  EXPECT_TRUE(run(half_used.world, off(karpenter(), "give_back_underutilized"), other, 0).plan.actions.empty());

  Fleet replaced(1);
  replaced.world.bind(replaced.world.gang(4, 1, TopologyLevel::node), NodeId{0});
  Memory replacing;
  ASSERT_EQ(launches(run(replaced.world, karpenter(), replacing, 0)).size(), 1u);
  replaced.own(replaced.world.node(0, 4), {1});
  for (const model::TerminateNode& gone :
       ended(run(replaced.world, off(karpenter(), "finish_replacements"), replacing, 60)))
    EXPECT_NE(gone.node, NodeId{0});
  EXPECT_EQ(replacing.replacements.size(), 1u);
}

}  // namespace
}  // namespace capstan::decide::provision
