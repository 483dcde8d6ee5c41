// Nodes without GPUs in snapshots: they have rows while a gang has pods that may need them.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "archive/saved_state.h"
#include "decide/place/place.h"
#include "fleet/index.h"
#include "model/consistency.h"
#include "objects.h"
#include "operator/snapshot/snapshot_builder.h"

namespace capstan::op {
namespace {

using testing::Cluster;
using testing::kIn2027;
using testing::Object;

/// A LeaderWorkerSet whose leader needs no GPU, and two nodes: the GPU node admits only the worker.
struct NodesWithoutGpus : ::testing::Test {
  NodesWithoutGpus() {
    cluster.fleet.put({{"metadata", {{"name", "default"}}}, {"spec", {{"layers", {{"placement", "Active"}}}}}});
    Object gpu = testing::node("gpu-1");
    gpu["spec"]["taints"] = {{{"key", "nvidia.com/gpu"}, {"effect", "NoSchedule"}}};
    gpu["status"]["allocatable"].update({{"cpu", "64"}, {"memory", "512Gi"}, {"pods", "110"}});
    cluster.nodes.put(gpu);
    cluster.nodes.put(cpu_node("cpu-1", "8"));
  }

  static Object cpu_node(const std::string& name, const char* cpu) {
    Object node = testing::node(name);
    node["status"]["allocatable"] = {{"cpu", cpu}, {"memory", "32Gi"}, {"pods", "3"}};
    node["metadata"]["labels"].erase("nvidia.com/gpu.product");
    return node;
  }
  static Object pod(const std::string& name, int gpus, const std::string& node = "") {
    Object pod = testing::pod(name, "set", node, false, gpus);
    pod["spec"]["schedulerName"] = "capstan";
    pod["metadata"]["labels"] = {{"leaderworkerset.sigs.k8s.io/name", "set"},
                                 {"leaderworkerset.sigs.k8s.io/group-index", "0"}};
    pod["metadata"]["annotations"] = {{"leaderworkerset.sigs.k8s.io/size", "2"}};
    pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "4";
    if (gpus > 0) pod["spec"]["tolerations"] = {{{"key", "nvidia.com/gpu"}, {"operator", "Exists"}}};
    return pod;
  }
  /// Puts a pod that Capstan does not place and that needs no GPU.
  void put_other(const std::string& name, const char* cpu, const std::string& node) {
    Object other = testing::pod(name, "web", node, true, 0);
    if (cpu != nullptr) other["spec"]["containers"][0]["resources"]["requests"]["cpu"] = cpu;
    cluster.pods.put(other);
  }

  /// Returns the nodes that placement chooses, by pod.
  std::map<std::string, std::string> place() {
    build();
    fleet::Index index = fleet::build(seen.snapshot);
    decide::place::Memory memory;
    std::map<std::string, std::string> nodes;
    for (const model::Action& action :
         decide::place::decide(index, seen.snapshot, {}, decide::place::Policy{}, memory, kIn2027).plan.actions) {
      for (const auto& binding : std::get<model::BindPods>(action.effect).bindings) {
        nodes[builder.pod(binding.pod)->name] = builder.node(binding.node)->name;
      }
    }
    return nodes;
  }
  const model::Snapshot& build() {
    seen = builder.build(cluster.view(), {}, kIn2027);
    const auto fault = model::find_inconsistency(seen.snapshot);
    EXPECT_FALSE(fault) << fault->table << " " << fault->id << " " << fault->field << ": " << fault->message;
    archive::SavedState state{seen.snapshot, builder.names(), {"any", builder.policies(), {}, {}}, {}};
    const std::string text = archive::to_json(state);
    const Result<archive::SavedState> second = archive::parse(text, "nodes.json");
    EXPECT_TRUE(second) << second.error().text();
    EXPECT_EQ(second ? archive::to_json(*second) : std::string(), text);
    return seen.snapshot;
  }

  using Nodes = std::map<std::string, std::string>;
  Cluster cluster;
  SnapshotBuilder builder;
  SnapshotBuilder::Output seen;
};

TEST_F(NodesWithoutGpus, ALeaderThatGpuNodesExcludeIsPlacedOnANodeWithoutGpus) {
  cluster.pods.put(pod("set-0", 0));
  cluster.pods.put(pod("set-0-1", 8));
  EXPECT_EQ(place(), (Nodes{{"set-0", "cpu-1"}, {"set-0-1", "gpu-1"}}));
}

TEST_F(NodesWithoutGpus, PodsOnTheNodeTakeItsCpuAndItsPodSlots) {
  cluster.pods.put(pod("set-0", 0));
  cluster.pods.put(pod("set-0-1", 8));
  put_other("web", "5", "cpu-1");
  EXPECT_EQ(place(), Nodes{}) << "3 CPUs are left, and the leader needs 4";
  put_other("web", "4", "cpu-1");
  EXPECT_EQ(place().size(), 2u);
  put_other("agent-1", nullptr, "cpu-1");
  put_other("agent-2", nullptr, "cpu-1");
  EXPECT_EQ(place(), Nodes{}) << "the node admits three pods";
  cluster.nodes.put(cpu_node("cpu-2", "4"));
  EXPECT_EQ(place().at("set-0"), "cpu-2");
  EXPECT_EQ(builder.complete_passes(), 1u);
}

TEST_F(NodesWithoutGpus, TheyHaveRowsOnlyWhileAGangHasPodsOfBothKinds) {
  put_other("web", "1", "cpu-1");
  cluster.pods.put(pod("set-0-1", 8));
  EXPECT_EQ(build().nodes.size(), 1u);
  cluster.pods.put(pod("set-0", 0));
  EXPECT_EQ(build().nodes.size(), 2u);
  EXPECT_EQ(seen.delta.nodes.size(), 1u);
  cluster.pods.put(pod("set-0", 0, "cpu-1"));
  cluster.pods.put(pod("set-0-1", 8, "gpu-1"));
  build().pods.for_each(
      [&](model::PodId id, const model::Pod& row) { EXPECT_TRUE(row.node.valid()) << builder.pod(id)->name; });
  EXPECT_TRUE(build().nodes.size() == 2 && seen.delta.empty()) << "an unchanged look changes nothing";
  cluster.pods.remove("ns/set-0");
  cluster.pods.remove("ns/set-0-1");
  EXPECT_EQ(build().nodes.size(), 1u);
  EXPECT_EQ(builder.complete_passes(), 1u);
}

TEST_F(NodesWithoutGpus, ATemplateWithALeaderWithoutGpusGivesThemRowsToo) {
  Object set = testing::deployment("set", 1);
  set["kind"] = "LeaderWorkerSet";
  const Object leader = {{"spec", {{"schedulerName", "capstan"}, {"containers", testing::containers(0)}}}};
  Object worker = leader;
  worker["spec"]["containers"] = testing::containers(8);
  set["spec"] = {{"replicas", 1},
                 {"leaderWorkerTemplate", {{"size", 2}, {"workerTemplate", worker}, {"leaderTemplate", leader}}}};
  EXPECT_EQ(build().nodes.size(), 1u);
  cluster.leader_worker_sets.put(set);
  EXPECT_EQ(build().nodes.size(), 2u);
  set["spec"]["leaderWorkerTemplate"]["leaderTemplate"]["spec"]["containers"] = testing::containers(8);
  cluster.leader_worker_sets.put(set);
  EXPECT_EQ(build().nodes.size(), 1u);
}

TEST_F(NodesWithoutGpus, AGangWithoutGpusThatNoSchedulerPlacesGetsAVerdict) {
  const auto verdict = [&] {
    build();
    fleet::Index index = fleet::build(seen.snapshot);
    decide::place::Memory memory;
    const auto decided = decide::place::decide(index, seen.snapshot, {}, {}, memory, kIn2027);
    EXPECT_TRUE(decided.plan.actions.empty() && decided.shortfalls.empty());
    return decided.verdicts.empty() ? std::string() : std::string(model::name(decided.verdicts[0].why.code));
  };
  cluster.pods.put(pod("set-0", 0));
  EXPECT_EQ(verdict(), "pods_missing");
  cluster.pods.put(pod("set-0-1", 0));
  EXPECT_EQ(verdict(), "no_gpus_requested");
  cluster.pods.put(pod("set-0", 0, "cpu-1"));
  EXPECT_EQ(verdict(), "") << "one of its pods has a node";
  cluster.pods.remove("ns/set-0");
  cluster.pods.remove("ns/set-0-1");
  Object alone = testing::pod("alone", "web", "", false, 0);
  cluster.pods.put(alone);
  EXPECT_EQ(verdict(), "") << "kube-scheduler places it";
  alone["spec"]["schedulerName"] = "capstan";
  cluster.pods.put(alone);
  EXPECT_EQ(verdict(), "no_gpus_requested");
  EXPECT_EQ(builder.build(cluster.view(), {}, kIn2027).delta.gangs.size(), 0u);
  alone["spec"]["nodeName"] = "cpu-1";
  cluster.pods.put(alone);
  EXPECT_EQ(verdict(), "");
  EXPECT_EQ(builder.complete_passes(), 1u);
}

TEST_F(NodesWithoutGpus, ANodeOutsideTheFleetHasNoRow) {
  cluster.fleet.put(
      {{"metadata", {{"name", "default"}}},
       {"spec", {{"layers", {{"placement", "Active"}}}, {"nodeSelector", {{"capstan.dev/fleet", "true"}}}}}});
  cluster.pods.put(pod("set-0", 0));
  cluster.pods.put(pod("set-0-1", 8));
  EXPECT_EQ(build().nodes.size(), 1u) << "only the GPU node, which takes no pods of Capstan";
  Object node = cpu_node("cpu-1", "8");
  node["metadata"]["labels"]["capstan.dev/fleet"] = "true";
  cluster.nodes.put(node);
  EXPECT_EQ(build().nodes.size(), 2u);
}

TEST_F(NodesWithoutGpus, AClaimWhoseNodeShowsNoGpusYetIsStillOnItsWay) {
  cluster.pods.put(pod("set-0", 0));
  cluster.pods.put(pod("set-0-1", 8));
  cluster.claims.put({{"metadata", testing::meta("claim")},
                      {"spec", {{"resources", {{"requests", {{"nvidia.com/gpu", "8"}}}}}}},
                      {"status", {{"nodeName", "cpu-1"}, {"capacity", {{"nvidia.com/gpu", "8"}}}}}});
  build();
  EXPECT_EQ(seen.snapshot.nodes.size(), 2u);
  ASSERT_EQ(seen.snapshot.claims.size(), 1u);
  EXPECT_FALSE(seen.snapshot.claims.at({0}).node.valid());
  EXPECT_NE(seen.snapshot.claims.at({0}).phase, model::Claim::Phase::registered);
}

}  // namespace
}  // namespace capstan::op
