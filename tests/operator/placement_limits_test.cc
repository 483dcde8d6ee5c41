// The limits that keep a waiting pod from a node, from the objects of the API server to the decision of placement.
#include <gtest/gtest.h>

#include "decide/place/place.h"
#include "fleet/index.h"
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
  Object other = testing::pod("daemon", "agent", "n", true, 0);  ///< a pod on the node that holds no GPU

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

}  // namespace
}  // namespace capstan::op
