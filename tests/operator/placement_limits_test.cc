// The limits that keep a waiting pod from a node, from the objects of the API server to the decision of placement.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "decide/place/place.h"
#include "fleet/index.h"
#include "model/reason_sentence.h"
#include "objects.h"
#include "operator/snapshot/snapshot_builder.h"

namespace capstan::op {
namespace {

using testing::Cluster;
using testing::Object;

constexpr Instant kPlacedAt{std::chrono::seconds(1'800'000'000)};

/// A node, and a pod of eight GPUs that waits for it.
struct WaitingPod {
  Object node = testing::node("n");
  Object pod = testing::pod("waiting", "work", "", false, 8);
  Object other = testing::pod("daemon", "agent", "n", true, 0);  ///< a pod without a GPU, on the node

  WaitingPod() {
    node["status"]["allocatable"].update({{"cpu", "8"}, {"memory", "10Gi"}, {"pods", "110"}});
    pod["spec"]["schedulerName"] = "capstan";
  }
  Object& requests(Object& of) { return of["spec"]["containers"][0]["resources"]["requests"]; }
  Object& allocatable() { return node["status"]["allocatable"]; }
};

bool is_placed(const WaitingPod& objects) {
  Cluster cluster;
  cluster.fleet.put({{"metadata", {{"name", "default"}}}, {"spec", {{"layers", {{"placement", "Active"}}}}}});
  cluster.nodes.put(objects.node);
  cluster.pods.put(objects.pod);
  cluster.pods.put(objects.other);
  SnapshotBuilder builder;
  const model::Snapshot snapshot = builder.build(cluster.view(), {}, kPlacedAt).snapshot;
  fleet::Index index = fleet::build(snapshot);
  decide::place::Memory memory;
  return !decide::place::decide(index, snapshot, {}, decide::place::Policy{}, memory, kPlacedAt).plan.actions.empty();
}

using ChangeOfObjects = void (*)(WaitingPod&);

Object affinity_to(const char* value) {
  const Object term = {{"matchExpressions", {{{"key", "disk"}, {"operator", "In"}, {"values", {value}}}}}};
  return {{"nodeAffinity",
           {{"requiredDuringSchedulingIgnoredDuringExecution", {{"nodeSelectorTerms", Object::array({term})}}}}}};
}

/// Returns an affinity with a rule about pods with the label `app: work`, which the waiting pod has.
/// @param kind  podAffinity or podAntiAffinity
Object pod_rule(const char* kind, const char* strength, Object term) {
  return {{kind, {{strength, Object::array({std::move(term)})}}}};
}

Object near_workers() {
  return {{"topologyKey", "kubernetes.io/hostname"}, {"labelSelector", {{"matchLabels", {{"app", "work"}}}}}};
}

Object spread_constraint() { return {{"maxSkew", 1}, {"topologyKey", "kubernetes.io/hostname"}}; }

constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr const char* kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

const struct {
  const char* title;
  ChangeOfObjects exclude;
  ChangeOfObjects admit;
} kLimits[] = {
    {"CPU", [](WaitingPod& o) { o.requests(o.pod)["cpu"] = "8001m"; },
     [](WaitingPod& o) { o.requests(o.pod)["cpu"] = "8"; }},
    {"CPU of another pod on the node",
     [](WaitingPod& o) { o.requests(o.pod)["cpu"] = o.requests(o.other)["cpu"] = "5"; },
     [](WaitingPod& o) { o.requests(o.other)["cpu"] = "3"; }},
    {"memory", [](WaitingPod& o) { o.requests(o.pod)["memory"] = "11Gi"; },
     [](WaitingPod& o) { o.allocatable()["memory"] = "11Gi"; }},
    {"pod slots", [](WaitingPod& o) { o.allocatable()["pods"] = "1"; },
     [](WaitingPod& o) { o.allocatable()["pods"] = "2"; }},
    {"GPUs", [](WaitingPod& o) { o.requests(o.other)["nvidia.com/gpu"] = "1"; },
     [](WaitingPod& o) { o.other["status"]["phase"] = "Succeeded"; }},
    {"a taint",
     [](WaitingPod& o) { o.node["spec"]["taints"] = {{{"key", "team"}, {"value", "a"}, {"effect", "NoSchedule"}}}; },
     [](WaitingPod& o) { o.pod["spec"]["tolerations"] = {{{"key", "team"}, {"operator", "Exists"}}}; }},
    {"a node selector", [](WaitingPod& o) { o.pod["spec"]["nodeSelector"] = {{"disk", "fast"}}; },
     [](WaitingPod& o) { o.node["metadata"]["labels"]["disk"] = "fast"; }},
    {"required node affinity", [](WaitingPod& o) { o.pod["spec"]["affinity"] = affinity_to("fast"); },
     [](WaitingPod& o) { o.node["metadata"]["labels"]["disk"] = "fast"; }},
    {"required node affinity without requirements, which no node meets",
     [](WaitingPod& o) {
       o.pod["spec"]["affinity"]["nodeAffinity"][kRequired]["nodeSelectorTerms"] = Object::array({Object::object()});
     },
     [](WaitingPod& o) { o.pod["spec"].erase("affinity"); }},
    {"required node affinity to a field",
     [](WaitingPod& o) {
       o.pod["spec"]["affinity"]["nodeAffinity"][kRequired]["nodeSelectorTerms"] = {
           {{"matchFields", {{{"key", "metadata.name"}, {"operator", "In"}, {"values", {"another"}}}}}}};
     },
     [](WaitingPod& o) { o.pod["spec"].erase("affinity"); }},
    {"required pod anti-affinity",
     [](WaitingPod& o) { o.pod["spec"]["affinity"] = pod_rule("podAntiAffinity", kRequired, near_workers()); },
     [](WaitingPod& o) {
       o.pod["spec"]["affinity"] =
           pod_rule("podAntiAffinity", kPreferred, {{"weight", 100}, {"podAffinityTerm", near_workers()}});
     }},
    {"required pod affinity",
     [](WaitingPod& o) { o.pod["spec"]["affinity"] = pod_rule("podAffinity", kRequired, near_workers()); },
     [](WaitingPod& o) {
       o.pod["spec"]["affinity"] =
           pod_rule("podAffinity", kPreferred, {{"weight", 100}, {"podAffinityTerm", near_workers()}});
     }},
    {"a required topology spread",
     [](WaitingPod& o) { o.pod["spec"]["topologySpreadConstraints"] = Object::array({spread_constraint()}); },
     [](WaitingPod& o) { o.pod["spec"]["topologySpreadConstraints"][0]["whenUnsatisfiable"] = "ScheduleAnyway"; }},
    {"a MIG profile", [](WaitingPod& o) { o.requests(o.pod)["nvidia.com/mig-1g.10gb"] = "2"; },
     [](WaitingPod& o) { o.allocatable()["nvidia.com/mig-1g.10gb"] = "2"; }},
    {"shared GPUs", [](WaitingPod& o) { o.requests(o.pod)["nvidia.com/gpu.shared"] = "3"; },
     [](WaitingPod& o) { o.allocatable()["nvidia.com/gpu.shared"] = "3"; }},
    {"another pod that is nominated to the node",
     [](WaitingPod& o) {
       o.other = testing::pod("nominated", "batch", "", false, 1);
       o.other["status"]["nominatedNodeName"] = "n";
     },
     [](WaitingPod& o) { o.other["status"].erase("nominatedNodeName"); }},
};

TEST(PlacementLimits, EachLimitOfKubernetesKeepsAPodFromANode) {
  EXPECT_TRUE(is_placed({})) << "nothing excludes the node";
  for (const auto& limit : kLimits) {
    WaitingPod objects;
    limit.exclude(objects);
    EXPECT_FALSE(is_placed(objects)) << limit.title;
    limit.admit(objects);
    EXPECT_TRUE(is_placed(objects)) << limit.title << ", which admits the pod now";
  }
}

TEST(PlacementLimits, AGangWhosePodsHaveARuleThatCapstanDoesNotFollowIsLeftAloneAndTheVerdictNamesTheField) {
  // Two pods that must not share a node, and one node with room for both: a binding of both would break the rule.
  WaitingPod objects;
  objects.requests(objects.pod)["nvidia.com/gpu"] = "4";
  objects.pod["metadata"]["annotations"] = {{"capstan.dev/gang", "g"}, {"capstan.dev/gang-min", "2"}};
  Object second = objects.pod;
  second["metadata"]["name"] = second["metadata"]["uid"] = "second";
  Cluster cluster;
  cluster.fleet.put({{"metadata", {{"name", "default"}}}, {"spec", {{"layers", {{"placement", "Active"}}}}}});
  cluster.nodes.put(objects.node);
  cluster.pods.put(objects.pod);
  SnapshotBuilder builder;
  const auto decide = [&] {
    const model::Snapshot snapshot = builder.build(cluster.view(), {}, kPlacedAt).snapshot;
    fleet::Index index = fleet::build(snapshot);
    decide::place::Memory memory;
    return decide::place::decide(index, snapshot, {}, decide::place::Policy{}, memory, kPlacedAt);
  };
  second["spec"]["affinity"] = pod_rule("podAntiAffinity", kRequired, near_workers());
  cluster.pods.put(second);
  const decide::place::Decision left_alone = decide();
  EXPECT_TRUE(left_alone.plan.actions.empty());
  EXPECT_TRUE(left_alone.shortfalls.empty()) << "no node is bought for it";
  ASSERT_EQ(left_alone.verdicts.size(), 1u);
  EXPECT_EQ(left_alone.verdicts[0].why.code, model::ReasonCode::rule_not_supported);
  const std::string sentence = model::sentence(left_alone.verdicts[0].why, {});
  EXPECT_NE(sentence.find("`affinity.podAntiAffinity`"), std::string::npos) << sentence;

  second["spec"].erase("affinity");
  second["spec"]["schedulingGates"] = {{{"name", "kueue.x-k8s.io/admission"}}};
  cluster.pods.put(second);
  const decide::place::Decision gated = decide();
  EXPECT_TRUE(gated.plan.actions.empty()) << "the API server refuses to bind a pod with a gate";
  EXPECT_EQ(gated.verdicts.at(0).why.code, model::ReasonCode::pods_gated);

  second["spec"].erase("schedulingGates");
  cluster.pods.put(second);
  EXPECT_EQ(decide().plan.actions.size(), 1u) << "without the rule, both pods are bound";
}

}  // namespace
}  // namespace capstan::op
