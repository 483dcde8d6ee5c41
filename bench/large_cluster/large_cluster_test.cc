// Tests a small version of the large cluster: the facts are the same in every run, and the decisions keep the rules. No
// test measures time.

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "archive/saved_state.h"
#include "decide/place/place.h"
#include "fleet/index.h"
#include "large_cluster/kube_cluster.h"
#include "large_cluster/model_cluster.h"
#include "model/consistency.h"
#include "operator/snapshot/snapshot_builder.h"

namespace capstan::bench {
namespace {

constexpr std::uint32_t kUnits = 2;  // 250 nodes

decide::place::Decision place(const model::Snapshot& snapshot) {
  fleet::Index index = fleet::build(snapshot);
  decide::place::Memory memory;
  return decide::place::decide(index, snapshot, {}, decide::place::Policy{}, memory, kNow);
}

/// Returns the nodes that admit the pods of a gang.
std::vector<model::NodeId> nodes_of(const model::Snapshot& snapshot, const model::Gang& gang) {
  const model::PodClass* pods = snapshot.catalog->eligibility.find(gang.spec.pods.pod_class);
  std::vector<model::NodeId> nodes;
  snapshot.nodes.for_each([&](model::NodeId id, const model::Node& node) {
    if (pods == nullptr || pods->admits(node.node_class)) nodes.push_back(id);
  });
  return nodes;
}

TEST(LargeCluster, HasTheStatedNumbers) {
  const Layout layout = make_layout(kUnits);
  const model::Snapshot snapshot = model_cluster(layout).snapshot;
  EXPECT_EQ(snapshot.nodes.size(), kUnits * kNodesOfAUnit);
  std::size_t bound = 0, pending = 0, pending_gangs = 0;
  snapshot.pods.for_each([&](model::PodId, const model::Pod& pod) { ++(pod.node.valid() ? bound : pending); });
  EXPECT_EQ(bound, kUnits * kBoundPodsOfAUnit);
  EXPECT_EQ(pending, kUnits * kPendingPodsOfAUnit);
  snapshot.gangs.for_each([&](model::GangId, const model::Gang& gang) {
    if (gang.phase != model::Gang::Phase::pending) return;
    ++pending_gangs;
    EXPECT_EQ(nodes_of(snapshot, gang).size(), kUnits * kNodesOfAUnit / 5) << "a gang may run on 20 % of the nodes";
  });
  EXPECT_EQ(pending_gangs, kUnits * kPendingGangsOfAUnit);
  const auto fault = model::find_inconsistency(snapshot);
  EXPECT_FALSE(fault) << fault->table << '.' << fault->field << ": " << fault->message;
}

TEST(LargeCluster, TheFullSizeIsOneHundredUnits) {
  EXPECT_EQ(100 * kNodesOfAUnit, 12'500u);
  EXPECT_EQ(100 * kNodesOfAUnit * kGpusOfANode, 100'000u);
  EXPECT_EQ(100 * kBoundPodsOfAUnit, 90'000u);
  EXPECT_EQ(100 * kPendingPodsOfAUnit, 10'000u);
  EXPECT_EQ(100 * kPendingGangsOfAUnit, 1'000u);
}

TEST(LargeCluster, BoundPodsRunOnNodesOfTheirClassThatHaveRoom) {
  const Layout layout = make_layout(kUnits);
  std::vector<MilliGpu> held(layout.nodes);
  for (const Gang& gang : layout.gangs) {
    for (const std::uint32_t node : gang.nodes) {
      EXPECT_TRUE(may_run_on(gang.service % kClasses, class_of_node(node)));
      held[node] += shape_of(gang.service).gpus_per_pod;
    }
  }
  for (const MilliGpu gpus : held) EXPECT_LE(gpus, whole_gpus(kGpusOfANode));
}

TEST(LargeCluster, PlacesTheSameGangsInEveryRunAndKeepsTheRules) {
  const auto run = [] {
    const Layout layout = make_layout(kUnits);
    const model::Snapshot snapshot = model_cluster(layout).snapshot;
    return check_placement(snapshot, layout, place(snapshot));
  };
  const PlacementCounts first = run();
  EXPECT_EQ(first.broken, "");
  EXPECT_GT(first.placed, 0u);
  EXPECT_GT(first.cannot_fit, 0u);
  EXPECT_EQ(first.placed + first.cannot_fit, kUnits * kPendingGangsOfAUnit);
  EXPECT_EQ(run(), first);
}

TEST(LargeCluster, TheCheckOfAPlacementFindsBrokenRules) {
  const Layout layout = make_layout(kUnits);
  const model::Snapshot snapshot = model_cluster(layout).snapshot;
  const decide::place::Decision good = place(snapshot);
  const auto broken_after = [&](auto change) {
    decide::place::Decision decision = good;
    for (model::Action& action : decision.plan.actions) {
      auto* bind = std::get_if<model::BindPods>(&action.effect);
      const model::Gang& gang = snapshot.gangs.at(bind->gang);
      if (gang.pods.size() == 1 || gang.spec.required_level != model::TopologyLevel::node) continue;
      change(*bind, gang);
      break;
    }
    return check_placement(snapshot, layout, decision).broken;
  };
  EXPECT_EQ(broken_after([](auto&, auto&) {}), "");
  EXPECT_NE(broken_after([](auto& bind, auto&) { bind.bindings.pop_back(); }), "") << "a pod is missing";
  EXPECT_NE(broken_after([](auto& bind, auto&) { ++bind.bindings[0].node.value; }), "") << "the gang is on two nodes";
  EXPECT_NE(broken_after([&](auto& bind, const model::Gang& gang) {
              const std::vector<model::NodeId> admitted = nodes_of(snapshot, gang);
              model::NodeId other{0};
              while (std::ranges::binary_search(admitted, other)) ++other.value;
              for (auto& binding : bind.bindings) binding.node = other;
            }),
            "")
      << "the node is of another class";
}

TEST(LargeCluster, AChangeDiffersByTheRowsOfItsDelta) {
  const Layout layout = make_layout(kUnits);
  const model::Snapshot before = model_cluster(layout).snapshot;
  for (const auto& make : {pod_ends, node_appears, gang_appears}) {
    const Change change = make(before, layout);
    EXPECT_FALSE(change.delta.empty());
    fleet::Index index = fleet::build(before);
    fleet::apply(index, change.after, change.delta);
    EXPECT_EQ(index, fleet::build(change.after));
    EXPECT_EQ(check_placement(change.after, layout, place(change.after)).broken, "");
  }
}

TEST(LargeCluster, TheUnplaceableGangHasNoRoom) {
  const Layout layout = make_layout(kUnits);
  const model::Snapshot snapshot = only_unplaceable_gang(model_cluster(layout).snapshot, layout);
  const PlacementCounts placement = check_placement(snapshot, layout, place(snapshot));
  EXPECT_EQ(placement.placed, 0u);
  EXPECT_EQ(placement.cannot_fit + placement.other, 1u);
}

TEST(LargeCluster, AsManyGangsFitInTheClusterAsInItsRacks) {
  const Layout layout = make_layout(kUnits);
  const model::Snapshot before = model_cluster(layout).snapshot;
  std::size_t in_racks = 0;
  for (const auto level : {model::TopologyLevel::rack, model::TopologyLevel::cluster}) {
    const model::Snapshot snapshot = with_gangs_of_level(before, level);
    const PlacementCounts placement = check_placement(snapshot, layout, place(snapshot));
    EXPECT_EQ(placement.broken, "");
    EXPECT_EQ(placement.placed + placement.cannot_fit + placement.other, kUnits * kPendingGangsOfAUnit);
    EXPECT_GE(placement.placed, in_racks);
    EXPECT_GE(placement.cannot_fit + placement.other, kUnits * kPendingGangsOfAUnit / 10);
    in_racks = placement.placed;
  }
  EXPECT_GT(in_racks, 0u);
}

TEST(LargeCluster, ItsSnapshotFileIsReadAsItWasWritten) {
  const archive::SavedState state = model_cluster(make_layout(kUnits));
  const std::string text = archive::to_json(state);
  const Result<archive::SavedState> read = archive::parse(text, "large.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(model::state_hash(read->snapshot), model::state_hash(state.snapshot));
  EXPECT_EQ(archive::to_json(*read), text);
}

TEST(LargeCluster, TheControllerSeesTheSameCluster) {
  const Layout layout = make_layout(kUnits);
  KubeCluster cluster(layout);
  op::SnapshotBuilder builder;
  const Instant at{std::chrono::seconds(1'800'000'000)};
  const op::SnapshotBuilder::Output first = builder.build(cluster.view(), cluster.readings(), at);
  const model::Snapshot expected = model_cluster(layout).snapshot;
  EXPECT_EQ(first.snapshot.nodes.size(), expected.nodes.size());
  EXPECT_EQ(first.snapshot.gangs.size(), expected.gangs.size());
  EXPECT_EQ(first.snapshot.pods.size(), expected.pods.size());
  EXPECT_EQ(first.snapshot.services.size(), kServices);
  std::size_t pending = 0;
  first.snapshot.gangs.for_each([&](model::GangId, const model::Gang& gang) {
    if (gang.phase != model::Gang::Phase::pending) return;
    ++pending;
    EXPECT_LE(nodes_of(first.snapshot, gang).size(), kUnits * kNodesOfAUnit / 5);
  });
  EXPECT_EQ(pending, kUnits * kPendingGangsOfAUnit);

  cluster.change_pods(0);
  EXPECT_TRUE(builder.build(cluster.view(), cluster.readings(), at).delta.empty()) << "nothing has changed";
  cluster.change_pods(5);
  const op::SnapshotBuilder::Output later = builder.build(cluster.view(), cluster.readings(), at);
  EXPECT_EQ(later.delta.pods.size(), 5u);
  EXPECT_EQ(later.delta.gangs.size(), 5u);
  EXPECT_TRUE(later.delta.nodes.empty());
}

}  // namespace
}  // namespace capstan::bench
