// The required anti-affinity of running pods against a pod that waits for Capstan.
#include <gtest/gtest.h>

#include <string>

#include "archive/saved_state.h"
#include "decide/place/place.h"
#include "fleet/index.h"
#include "model/reason_sentence.h"
#include "objects.h"
#include "operator/snapshot/snapshot_builder.h"

namespace capstan::op {
namespace {

using testing::Cluster;
using testing::kIn2027;
using testing::Object;

/// A pod that waits for eight GPUs, and a node in each of two zones. `put_running` adds a pod without GPUs, by default
/// on the node in zone a.
struct KeptApart : ::testing::Test {
  KeptApart() {
    cluster.fleet.put({{"metadata", {{"name", "default"}}}, {"spec", {{"layers", {{"placement", "Active"}}}}}});
    for (const char* name : {"a", "b"}) {
      Object node = testing::node(name, 8, name);
      node["metadata"]["labels"]["kubernetes.io/hostname"] = name;
      cluster.nodes.put(node);
    }
    Object waiting = testing::pod("waiting", "work", "", false, 8);
    waiting["spec"]["schedulerName"] = "capstan";
    cluster.pods.put(waiting);
  }

  static Object term(const char* key = "kubernetes.io/hostname", const char* app = "work") {
    return {{"topologyKey", key}, {"labelSelector", {{"matchLabels", {{"app", app}}}}}};
  }
  void put_running(const Object& rule, const std::string& node = "a", const std::string& name = "running") {
    Object pod = testing::pod(name, "db", node, true, 0);
    pod["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
        Object::array({rule});
    cluster.pods.put(pod);
  }
  /// Returns the node of the waiting pod; empty: it waits.
  std::string place() {
    seen = builder.build(cluster.view(), {}, kIn2027).snapshot;
    fleet::Index index = fleet::build(seen);
    decide::place::Memory memory;
    decided = decide::place::decide(index, seen, {}, decide::place::Policy{}, memory, kIn2027);
    if (decided.plan.actions.empty()) return "";
    return builder.node(std::get<model::BindPods>(decided.plan.actions[0].effect).bindings[0].node)->name;
  }

  Cluster cluster;
  SnapshotBuilder builder;
  model::Snapshot seen;
  decide::place::Decision decided;
};

TEST_F(KeptApart, ANodeWithARunningPodWhoseRuleSelectsThePodIsNotUsed) {
  EXPECT_EQ(place(), "a") << "without a rule";
  put_running(term());
  EXPECT_EQ(place(), "b");
  put_running(term(), "b");
  EXPECT_EQ(place(), "a") << "the running pod is on the other node now";
  put_running(term("kubernetes.io/hostname", "other"));
  EXPECT_EQ(place(), "a") << "the rule selects other pods";
  EXPECT_EQ(builder.complete_passes(), 1u);
}

TEST_F(KeptApart, TheDomainIsThatOfTheTopologyKey) {
  cluster.nodes.put(testing::node("c", 8, "a"));
  put_running(term("topology.kubernetes.io/zone"));
  EXPECT_EQ(place(), "b") << "nodes a and c are in the same zone";
  put_running(term("example.com/unknown"));
  EXPECT_EQ(place(), "a") << "no node has the label";
}

TEST_F(KeptApart, ARuleInAnotherNamespaceCountsOnlyIfItNamesTheNamespaceOfThePod) {
  Object rule = term();
  rule["namespaces"] = {"elsewhere"};
  put_running(rule);
  EXPECT_EQ(place(), "a");
  rule["namespaces"] = {"elsewhere", "ns"};
  put_running(rule);
  EXPECT_EQ(place(), "b");
  rule.erase("namespaces");
  rule["namespaceSelector"] = Object::object();
  put_running(rule);
  EXPECT_EQ(place(), "b");
}

TEST_F(KeptApart, TheVerdictNamesTheRunningPodAndItsField) {
  put_running(term());
  put_running(term(), "b", "second");
  EXPECT_EQ(place(), "");
  ASSERT_EQ(decided.verdicts.size(), 1u);
  EXPECT_EQ(decided.verdicts[0].why.code, model::ReasonCode::pods_kept_apart);
  EXPECT_NE(decided.verdicts[0].kind, decide::place::PlacementResult::Kind::never_fits) << "the pods may end";
  const std::string sentence = model::sentence(decided.verdicts[0].why, *seen.catalog);
  EXPECT_NE(sentence.find("ns/running"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("`affinity.podAntiAffinity`"), std::string::npos) << sentence;
  archive::SavedState state{seen, builder.names(), {"any", {}, {}, {}}, {}};
  const std::string text = archive::to_json(state);
  const Result<archive::SavedState> second = archive::parse(text, "apart.json");
  ASSERT_TRUE(second) << second.error().text();
  EXPECT_EQ(archive::to_json(*second), text);
  cluster.pods.remove("ns/second");
  EXPECT_EQ(place(), "b");
  EXPECT_EQ(builder.complete_passes(), 1u);
}

TEST_F(KeptApart, NodesThatAppearChangeOrVanishAreFollowed) {
  put_running(term("topology.kubernetes.io/zone"), "late");
  EXPECT_EQ(place(), "a") << "the node of the running pod has no object yet";
  cluster.nodes.put(testing::node("late", 0, "a"));
  EXPECT_EQ(place(), "b") << "a node without GPUs counts, too";
  cluster.nodes.put(testing::node("late", 0, "b"));
  EXPECT_EQ(place(), "a");
  cluster.nodes.put(testing::node("c", 8, "b"));
  cluster.nodes.remove("a");
  EXPECT_EQ(place(), "") << "the new node is in the zone of the running pod";
  cluster.nodes.remove("late");
  EXPECT_EQ(place(), "b");
  EXPECT_EQ(builder.complete_passes(), 1u);
}

TEST_F(KeptApart, AnUnchangedLookChangesNothing) {
  put_running(term());
  place();
  const SnapshotBuilder::Output same = builder.build(cluster.view(), {}, kIn2027);
  EXPECT_TRUE(same.delta.empty());
}

}  // namespace
}  // namespace capstan::op
