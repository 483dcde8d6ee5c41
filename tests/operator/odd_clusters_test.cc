#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "archive/saved_state.h"
#include "decide/place/expected_nodes.h"
#include "decide/place/place.h"
#include "fleet/index.h"
#include "model/consistency.h"
#include "objects.h"
#include "operator/snapshot/snapshot_builder.h"

// Snapshots of clusters whose objects contradict each other, or seem to.
namespace capstan::op {
namespace {

using testing::Cluster;
using testing::kIn2027;
using testing::Object;

/// A cluster whose objects contradict each other, or seem to, and the check of its snapshot.
struct OddCluster {
  const char* title;
  std::function<void(Cluster&)> make;
  std::function<void(const model::Snapshot&)> check;
};

Object unregistered_claim() {
  return {{"metadata", {{"name", "gpu-x"}, {"uid", "c1"}, {"labels", {{"karpenter.sh/nodepool", "gpu"}}}}},
          {"spec", {{"resources", {{"requests", {{"nvidia.com/gpu", "8"}}}}}}},
          {"status", {{"nodeName", "n1"}, {"conditions", {{{"type", "Launched"}, {"status", "True"}}}}}}};
}

Object initialized_claim() {
  Object claim = unregistered_claim();
  claim["status"]["conditions"].push_back({{"type", "Initialized"}, {"status", "True"}});
  return claim;
}

Object with_ready(Object node, const char* status) {
  node["status"]["conditions"][0]["status"] = status;
  return node;
}

const OddCluster kOddClusters[] = {
    {"a node and a pod with a great many labels",
     [](Cluster& c) {
       Object node = testing::node("n1");
       Object pod = testing::pod("chat-a", "chat", "n1", true);
       for (int i = 0; i < 50'000; ++i) {
         for (Object* object : {&node, &pod}) (*object)["metadata"]["labels"]["key-" + std::to_string(i)] = "v";
       }
       c.nodes.put(node);
       c.pods.put(pod);
     },
     [](const model::Snapshot& s) { EXPECT_TRUE(s.pods.at({0}).node.valid()); }},
    {"a pod whose creation time is in the future",
     [](Cluster& c) {
       Object pod = testing::pod("chat-a", "chat", "n1", true);
       pod["metadata"]["creationTimestamp"] = "2030-01-01T00:00:00Z";
       c.pods.put(pod);
     },
     [](const model::Snapshot& s) { EXPECT_EQ(s.pods.at({0}).created_at, kIn2027); }},
    {"a pod created by hand with a number as in a StatefulSet",
     [](Cluster& c) {
       Object set = testing::deployment("chat", 2);
       c.deployments.remove("ns/chat");
       c.stateful_sets.put(set);
       c.scalers.put(testing::scaler("chat", "chat", "StatefulSet"));
       c.pods.put(testing::pod("chat-0", "chat", "n1", true));
       c.pods.put(testing::pod("copy-0", "chat", "n1", true));
     },
     [](const model::Snapshot& s) {
       ASSERT_EQ(s.gangs.size(), 2u);
       EXPECT_NE(s.gangs.at({0}).ordinal, s.gangs.at({1}).ordinal);
     }},
    {"a claim whose node exists, but that lacks the condition Registered",
     [](Cluster& c) { c.claims.put(unregistered_claim()); },
     [](const model::Snapshot& s) { EXPECT_EQ(s.claims.at({0}).phase, model::Claim::Phase::registered); }},
    {"a claim that says that its node is complete before the node is seen",
     [](Cluster& c) {
       c.claims.put(initialized_claim());
       c.nodes.remove("n1");
     },
     [](const model::Snapshot& s) { EXPECT_TRUE(decide::place::in_transit(s.claims.at({0}), s)); }},
    {"a claim whose node has lost its GPUs",
     [](Cluster& c) {
       c.claims.put(initialized_claim());
       Object node = testing::node("n1");
       node["status"]["allocatable"].erase("nvidia.com/gpu");
       c.nodes.put(node);
     },
     [](const model::Snapshot& s) { EXPECT_FALSE(decide::place::is_expected(s.claims.at({0}), s)); }},
    {"a node that has registered and is not ready yet",
     [](Cluster& c) {
       c.claims.put(unregistered_claim());
       c.nodes.put(with_ready(testing::node("n1"), "False"));
     },
     [](const model::Snapshot& s) {
       EXPECT_EQ(s.nodes.at({0}).phase, model::Node::Phase::cordoned);
       EXPECT_TRUE(decide::place::is_expected(s.claims.at({0}), s));
       EXPECT_FALSE(decide::place::in_transit(s.claims.at({0}), s)) << "its GPUs would count twice in its pool";
     }},
    {"a ready node whose driver has not taken its startup taint away yet",
     [](Cluster& c) {
       Object claim = unregistered_claim();
       claim["spec"]["startupTaints"] = {{{"key", "driver"}, {"effect", "NoSchedule"}}};
       c.claims.put(claim);
     },
     [](const model::Snapshot& s) {
       EXPECT_EQ(s.nodes.at({0}).phase, model::Node::Phase::cordoned);
       EXPECT_TRUE(decide::place::is_expected(s.claims.at({0}), s));
     }},
    {"a ready node whose taint of a new node has not been taken away yet",
     [](Cluster& c) {
       c.claims.put(unregistered_claim());
       Object node = testing::node("n1");
       node["spec"]["taints"] = {{{"key", "node.kubernetes.io/not-ready"}, {"effect", "NoSchedule"}}};
       c.nodes.put(node);
     },
     [](const model::Snapshot& s) {
       EXPECT_EQ(s.nodes.at({0}).phase, model::Node::Phase::cordoned);
       EXPECT_TRUE(decide::place::is_expected(s.claims.at({0}), s)) << "else another node would be bought for it";
     }},
    {"a node that was complete and is not ready at the moment",
     [](Cluster& c) {
       c.claims.put(initialized_claim());
       c.nodes.put(with_ready(testing::node("n1"), "Unknown"));
     },
     [](const model::Snapshot& s) {
       EXPECT_EQ(s.nodes.at({0}).phase, model::Node::Phase::cordoned);
       EXPECT_FALSE(decide::place::is_expected(s.claims.at({0}), s));
     }},
    {"a replica on a node whose device plugin restarts",
     [](Cluster& c) { c.pods.put(testing::pod("chat-a", "chat", "gone", true)); },
     [](const model::Snapshot& s) { EXPECT_FALSE(s.pods.at({0}).node.valid()); }},
    {"negative amounts and amounts that overflow",
     [](Cluster& c) {
       c.fleet.put({{"metadata", {{"name", "default"}}}, {"spec", {{"layers", {{"placement", "Active"}}}}}});
       const Object odd = {{"cpu", "-4"}, {"memory", "99999999999999Ei"}, {"pods", "-1"}, {"example.com/nic", "-2"}};
       Object node = testing::node("n1");
       node["status"]["allocatable"].update(odd);
       c.nodes.put(node);
       for (const char* resource : {"cpu", "pods", "example.com/nic"}) {
         node["status"]["allocatable"][resource] = "99999999999999Ei";
       }
       node["metadata"]["name"] = node["metadata"]["uid"] = "n3";
       c.nodes.put(node);
       Object negative = testing::node("n2", -8);
       c.nodes.put(negative);
       for (const char* gpus : {"-1", "9223372036854775807", "99999999999999Ei"}) {
         Object pod = testing::pod("p" + std::to_string(c.pods.all().size()), "jobs");
         pod["spec"]["schedulerName"] = "capstan";
         pod["spec"]["containers"][0]["resources"]["requests"] = odd;
         pod["spec"]["containers"][0]["resources"]["requests"]["nvidia.com/gpu"] = gpus;
         c.pods.put(pod);
       }
     },
     [](const model::Snapshot& s) {
       EXPECT_EQ(s.nodes.size(), 2u) << "a node with fewer than no GPUs has none";
       s.nodes.for_each([](model::NodeId, const model::Node& node) { EXPECT_GE(node.gpus, MilliGpu{}); });
       s.pods.for_each([](model::PodId, const model::Pod& pod) { EXPECT_GE(pod.gpus, MilliGpu{}); });
     }},
    {"a topology of sixteen levels of which a node has the labels, and another node contradicts them",
     [](Cluster& c) {
       Object levels = Object::array();
       Object node = testing::node("n1");
       for (int i = 0; i < 16; ++i) {
         const std::string level = "level-" + std::to_string(i);
         levels.push_back({{"name", level}, {"nodeLabel", "example.com/" + level}});
         node["metadata"]["labels"]["example.com/" + level] = "domain";
       }
       c.fleet.put(
           {{"metadata", {{"name", "default"}}}, {"spec", {{"topologies", {{{"name", "deep"}, {"levels", levels}}}}}}});
       c.nodes.put(node);
       node["metadata"]["name"] = node["metadata"]["uid"] = "n2";
       node["metadata"]["labels"]["example.com/level-0"] = "elsewhere";  // its level 15 has the same name as that of n1
       c.nodes.put(node);
     },
     [](const model::Snapshot& s) {
       const model::Level narrowest = *model::level_of_key(s.catalog->topologies, "deep/level-15");
       EXPECT_NE(s.nodes.at({0}).domains.domain_at(narrowest), s.nodes.at({1}).domains.domain_at(narrowest));
     }},
    {"a node that lost a GPU",
     [](Cluster& c) {
       c.nodes.put(testing::node("n1", 1));
       c.pods.put(testing::pod("chat-a", "chat", "n1", true, 2));
     },
     [](const model::Snapshot& s) { EXPECT_LT(s.nodes.at({0}).gpus, s.pods.at({0}).gpus); }},
};

TEST(OddClusters, SnapshotsAreConsistentAndReadBack) {
  for (const OddCluster& row : kOddClusters) {
    SCOPED_TRACE(row.title);
    Cluster cluster;
    cluster.nodes.put(testing::node("n1"));
    cluster.scalers.put(testing::scaler("chat", "chat"));
    cluster.deployments.put(testing::deployment("chat", 2));
    row.make(cluster);
    SnapshotBuilder builder;
    const model::Snapshot snapshot = builder.build(cluster.view(), {}, kIn2027).snapshot;
    row.check(snapshot);
    const auto fault = model::find_inconsistency(snapshot);
    EXPECT_FALSE(fault) << fault->table << "." << fault->field << ": " << fault->message;
    archive::SavedState state{snapshot, builder.names(), {"any", builder.policies(), {}, {}}, {}};
    state.memory.scale.resize(builder.policies().size());
    const std::string text = archive::to_json(state);
    const Result<archive::SavedState> second = archive::parse(text, "odd.json");
    ASSERT_TRUE(second) << second.error().text();
    EXPECT_EQ(archive::to_json(*second), text);
  }
}

/// Labels for which no pod asks make no classes. Each node lies in a domain of all sixteen levels.
TEST(OddClusters, AHundredThousandLabelsAndSixteenLevelsAreRead) {
  constexpr int kNodes = 500, kLabels = 200, kLevels = 16;
  Cluster cluster;
  Object levels = Object::array();
  for (int i = 0; i < kLevels; ++i) {
    const std::string level = "level-" + std::to_string(i);
    levels.push_back({{"name", level}, {"nodeLabel", "example.com/" + level}});
  }
  cluster.fleet.put(
      {{"metadata", {{"name", "default"}}},
       {"spec", {{"layers", {{"placement", "Active"}}}, {"topologies", {{{"name", "deep"}, {"levels", levels}}}}}}});
  for (int n = 0; n < kNodes; ++n) {
    Object node = testing::node("n" + std::to_string(n));
    Object& labels = node["metadata"]["labels"];
    for (int i = 0; i < kLabels; ++i) labels["example.com/own-" + std::to_string(i)] = std::to_string(n);
    for (int i = 0; i < kLevels; ++i) {  // a binary tree
      labels["example.com/level-" + std::to_string(i)] = "d" + std::to_string(n >> (kLevels - 1 - i));
    }
    cluster.nodes.put(node);
  }
  Object pod = testing::pod("waiting", "jobs", "", false, 8);
  pod["spec"]["schedulerName"] = "capstan";
  pod["spec"]["nodeSelector"] = {{"example.com/own-7", "3"}};
  cluster.pods.put(pod);
  SnapshotBuilder builder;
  const model::Snapshot snapshot = builder.build(cluster.view(), {}, kIn2027).snapshot;
  EXPECT_FALSE(model::find_inconsistency(snapshot));
  const model::Level narrowest = *model::level_of_key(snapshot.catalog->topologies, "deep/level-15");
  EXPECT_EQ(std::ranges::count(snapshot.catalog->domains, narrowest, &model::Domain::level), kNodes);
  fleet::Index index = fleet::build(snapshot);
  decide::place::Memory memory;
  const auto decided = decide::place::decide(index, snapshot, {}, {}, memory, kIn2027);
  ASSERT_EQ(decided.plan.actions.size(), 1u);
  EXPECT_EQ(builder.node(std::get<model::BindPods>(decided.plan.actions[0].effect).bindings[0].node)->name, "n3");
}

}  // namespace
}  // namespace capstan::op
