// Tests GPUs that are in use without a GPU request of a pod: by ResourceClaims, and by pods that see the GPUs of their
// node.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "model/consistency.h"
#include "objects.h"
#include "operator/snapshot/gpu_holders.h"
#include "operator/snapshot/snapshot_builder.h"

namespace capstan::op {
namespace {

using testing::Cluster;
using testing::Object;

/// Returns a device of a node. The GPU gpu-0 has the UUID GPU-0. A part of a GPU states the UUID of its GPU in `gpu`.
Object device(const std::string& name, const std::string& type = "gpu", const std::string& gpu = "") {
  Object attributes = {{"type", {{"string", type}}}, {"productName", {{"string", "NVIDIA H100 80GB HBM3"}}}};
  if (type == "gpu") attributes["uuid"] = {{"string", "GPU-" + name.substr(4)}};
  if (!gpu.empty()) attributes["parentUUID"] = {{"string", gpu}};
  return {{"name", name}, {"attributes", attributes}};
}

Object slice(const std::string& node, std::vector<Object> devices, int generation = 1,
             const std::string& driver = "gpu.nvidia.com") {
  return {{"metadata", testing::meta(node + std::to_string(generation) + driver)},
          {"spec",
           {{"driver", driver},
            {"nodeName", node},
            {"pool", {{"name", node}, {"generation", generation}}},
            {"devices", std::move(devices)}}}};
}

/// Returns a ResourceClaim to which devices of the pool `node` are allocated.
Object device_claim(const std::string& name, const std::vector<std::string>& devices, const std::string& pod = "",
                    const std::string& node = "n", const std::string& driver = "gpu.nvidia.com") {
  Object results = Object::array();
  for (const std::string& device : devices) {
    results.push_back({{"request", "gpu"}, {"driver", driver}, {"pool", node}, {"device", device}});
  }
  Object out = {{"metadata", testing::meta(name)},
                {"status", {{"allocation", {{"devices", {{"results", std::move(results)}}}}}}}};
  if (!pod.empty()) out["status"]["reservedFor"] = {{{"resource", "pods"}, {"name", pod}, {"uid", pod}}};
  return out;
}

/// Returns a bound pod without a request for GPUs.
Object bound(const std::string& name, const std::string& node = "n") {
  Object pod = testing::pod(name, "work", node, true, 0);
  pod["spec"]["containers"][0].erase("resources");
  return pod;
}

Object seeing(const std::string& name, const std::string& gpus) {
  Object pod = bound(name);
  pod["spec"]["containers"][0]["env"] = {{{"name", "NVIDIA_VISIBLE_DEVICES"}, {"value", gpus}}};
  return pod;
}

Object privileged(const std::string& name) {
  Object pod = bound(name);
  pod["spec"]["containers"][0]["securityContext"]["privileged"] = true;
  return pod;
}

Object owned(Object pod, const std::string& kind) {
  pod["metadata"]["ownerReferences"] = {
      {{"apiVersion", "apps/v1"}, {"kind", kind}, {"name", "a"}, {"uid", "a"}, {"controller", true}}};
  return pod;
}

std::vector<Object> gpus(int count) {
  std::vector<Object> out;
  for (int i = 0; i < count; ++i) out.push_back(device("gpu-" + std::to_string(i)));
  return out;
}

/// Returns the held and all GPUs of each node, such as "2/8", or "2/8 closed" if Capstan binds no pod there.
std::string held(const model::Snapshot& snapshot) {
  std::map<model::NodeId, MilliGpu> held;
  snapshot.pods.for_each([&](model::PodId, const model::Pod& pod) {
    if (pod.node.valid()) held[pod.node] += pod.gpus;
  });
  std::string out;
  snapshot.nodes.for_each([&](model::NodeId id, const model::Node& node) {
    out += fmt::format("{}{}/{}{}", out.empty() ? "" : ", ", held[id].count / 1'000, node.gpus.count / 1'000,
                       node.phase == model::Node::Phase::ready ? "" : " closed");
  });
  return out;
}

struct Row {
  std::string title;
  std::string expected;  ///< held and all GPUs by node
  std::function<void(Cluster&)> fill;
};

const Row kRows[] = {
    {"slices describe the GPUs of a node without a device plugin", "0/8 closed",
     [](Cluster& c) { c.resource_slices.put(slice("n", gpus(8))); }},
    {"a device plugin and slices offer the same GPUs", "0/8",
     [](Cluster& c) {
       c.nodes.put(testing::node("n", 8));
       c.resource_slices.put(slice("n", gpus(8)));
     }},
    {"a claim holds GPUs for its pod", "2/4 closed",
     [](Cluster& c) {
       c.resource_slices.put(slice("n", gpus(4)));
       c.resource_claims.put(device_claim("a", {"gpu-0", "gpu-3"}, "p"));
       c.pods.put(bound("p"));
     }},
    {"a claim that no pod uses holds its GPUs until it is given back", "1/4 closed",
     [](Cluster& c) {
       c.resource_slices.put(slice("n", gpus(4)));
       c.resource_claims.put(device_claim("a", {"gpu-1"}));
     }},
    {"a claim without a pod holds its GPUs on each of its nodes", "1/4 closed, 2/4 closed",
     [](Cluster& c) {
       Object second = c.nodes.all().begin()->second;
       second["metadata"]["name"] = second["metadata"]["uid"] = "o";
       c.nodes.put(second);
       for (const char* node : {"n", "o"}) c.resource_slices.put(slice(node, gpus(4)));
       Object claim = device_claim("a", {"gpu-1", "gpu-2", "gpu-3"});
       for (const int result : {1, 2}) claim["status"]["allocation"]["devices"]["results"][result]["pool"] = "o";
       c.resource_claims.put(claim);
     }},
    {"a claim of an ended pod holds its GPUs", "1/4 closed",
     [](Cluster& c) {
       c.resource_slices.put(slice("n", gpus(4)));
       c.resource_claims.put(device_claim("a", {"gpu-1"}, "p"));
       Object pod = bound("p");
       pod["status"]["phase"] = "Succeeded";
       c.pods.put(pod);
     }},
    {"a GPU that two claims share counts once", "1/4 closed",
     [](Cluster& c) {
       c.resource_slices.put(slice("n", gpus(4)));
       c.resource_claims.put(device_claim("a", {"gpu-1"}, "p"));
       c.resource_claims.put(device_claim("b", {"gpu-1"}, "q"));
       c.pods.put(bound("p"));
       c.pods.put(bound("q"));
     }},
    {"a MIG device holds its GPU", "1/2 closed",
     [](Cluster& c) {
       std::vector<Object> devices = gpus(2);
       devices.push_back(device("mig-0", "mig", "GPU-1"));
       devices.push_back(device("mig-1", "mig", "GPU-1"));
       c.resource_slices.put(slice("n", devices));
       c.resource_claims.put(device_claim("a", {"mig-0"}, "p"));
       c.resource_claims.put(device_claim("b", {"mig-1"}));
       c.pods.put(bound("p"));
     }},
    {"a device whose GPU cannot be told closes all that others leave", "4/4 closed",
     [](Cluster& c) {
       std::vector<Object> devices = gpus(4);
       devices.push_back(device("part-0", "partition"));
       c.resource_slices.put(slice("n", devices));
       c.resource_claims.put(device_claim("a", {"part-0"}, "p"));
       c.resource_claims.put(device_claim("b", {"gpu-0"}, "q"));
       c.pods.put(bound("p"));
       c.pods.put(bound("q"));
     }},
    {"a device that no slice describes closes the rest of the node of its pool", "8/8",
     [](Cluster& c) {
       c.nodes.put(testing::node("n", 8));
       c.resource_claims.put(device_claim("a", {"gpu-7"}, "p"));
       c.pods.put(bound("p"));
       c.pods.put(testing::pod("q", "work", "n", true, 2));
     }},
    {"the newest generation of a pool counts", "0/1 closed",
     [](Cluster& c) {
       c.resource_slices.put(slice("n", gpus(4), 1));
       c.resource_slices.put(slice("n", {device("gpu-0")}, 2));
     }},
    {"devices of other drivers are no GPUs", "0/8",
     [](Cluster& c) {
       c.nodes.put(testing::node("n", 8));
       c.resource_slices.put(slice("n", {device("channel-0")}, 1, "compute-domain.nvidia.com"));
       c.resource_claims.put(device_claim("a", {"channel-0"}, "", "n", "compute-domain.nvidia.com"));
     }},
    {"a claim for a request of an extended resource is not counted twice", "1/4 closed",
     [](Cluster& c) {
       c.resource_slices.put(slice("n", gpus(4)));
       Object made = device_claim("a", {"gpu-1"}, "p");
       made["metadata"]["annotations"] = {{"resource.kubernetes.io/extended-resource-claim", "true"}};
       c.resource_claims.put(made);
       c.pods.put(testing::pod("p", "work", "n", true, 1));
     }},
    {"access for administrators takes nothing", "0/4 closed",
     [](Cluster& c) {
       c.resource_slices.put(slice("n", gpus(4)));
       Object watching = device_claim("a", {"gpu-1"});
       watching["status"]["allocation"]["devices"]["results"][0]["adminAccess"] = true;
       c.resource_claims.put(watching);
     }},
    {"slices of version v1beta1", "0/1 closed",
     [](Cluster& c) {
       Object old = device("gpu-0");
       old["basic"] = {{"attributes", old["attributes"]}};
       old.erase("attributes");
       c.resource_slices.put(slice("n", {old}));
     }},
    {"a launcher that sees two GPUs", "4/8",
     [](Cluster& c) {
       c.nodes.put(testing::node("n", 8));
       c.pods.put(seeing("launcher", "0,3"));
       c.pods.put(testing::pod("p", "work", "n", true, 2));
     }},
    {"a launcher that sees all GPUs", "8/8",
     [](Cluster& c) {
       c.nodes.put(testing::node("n", 8));
       c.pods.put(seeing("launcher", "all"));
       c.pods.put(testing::pod("p", "work", "n", true, 2));
     }},
    {"more visible GPUs than the node has left", "8/8",
     [](Cluster& c) {
       c.nodes.put(testing::node("n", 8));
       c.pods.put(seeing("launcher", "0,1,2,3"));
       c.pods.put(testing::pod("p", "work", "n", true, 6));
     }},
    {"a privileged pod may use any GPU that is left", "8/8",
     [](Cluster& c) {
       c.nodes.put(testing::node("n", 8));
       c.pods.put(privileged("shell"));
       c.pods.put(testing::pod("p", "work", "n", true, 2));
     }},
    {"a pod with the device files of a GPU may use any", "8/8",
     [](Cluster& c) {
       c.nodes.put(testing::node("n", 8));
       Object pod = bound("notebook");
       pod["spec"]["volumes"] = {{{"name", "gpu"}, {"hostPath", {{"path", "/dev/nvidia0"}}}}};
       c.pods.put(pod);
     }},
    {"the runtime class of NVIDIA gives a pod the GPUs that its image lists", "8/8",
     [](Cluster& c) {
       c.nodes.put(testing::node("n", 8));
       Object pod = bound("engine");
       pod["spec"]["runtimeClassName"] = "nvidia";
       c.pods.put(pod);
     }},
    {"a variable of the pod replaces that of the image", "0/8",
     [](Cluster& c) {
       c.nodes.put(testing::node("n", 8));
       Object pod = seeing("proxy", "void");
       pod["spec"]["runtimeClassName"] = "nvidia";
       c.pods.put(pod);
     }},
    {"a privileged pod with a request holds that request", "2/8",
     [](Cluster& c) {
       c.nodes.put(testing::node("n", 8));
       Object pod = testing::pod("p", "work", "n", true, 2);
       pod["spec"]["containers"][0]["securityContext"]["privileged"] = true;
       c.pods.put(pod);
     }},
    {"agents of the node hold nothing", "0/8",
     [](Cluster& c) {
       c.nodes.put(testing::node("n", 8));
       c.pods.put(owned(seeing("dcgm", "all"), "DaemonSet"));
       c.pods.put(owned(privileged("driver"), "DaemonSet"));
       c.pods.put(seeing("proxy", "none"));
     }},
};

TEST(GpuHolders, CountsEachGpuOnce) {
  for (const Row& row : kRows) {
    Cluster cluster;
    Object bare = testing::node("n", 0);
    bare["status"]["allocatable"].erase("nvidia.com/gpu");
    bare["metadata"]["labels"].erase("nvidia.com/gpu.product");
    cluster.nodes.put(bare);
    row.fill(cluster);
    SnapshotBuilder builder;
    const model::Snapshot snapshot = builder.build(cluster.view(), {}, Instant(std::chrono::hours(500'000))).snapshot;
    EXPECT_EQ(held(snapshot), row.expected) << row.title;
    const auto fault = model::find_inconsistency(snapshot);
    EXPECT_FALSE(fault) << row.title;
  }
}

TEST(GpuHolders, ThePodsOfClaimsHaveTheNumbersOfTheirGpus) {
  Cluster c;
  c.nodes.put(testing::node("n", 0));
  c.resource_slices.put(slice("n", gpus(4)));
  c.resource_claims.put(device_claim("a", {"gpu-3", "gpu-1"}, "p"));
  Object made = device_claim("b", {"gpu-2"}, "q");
  made["metadata"]["annotations"] = {{"resource.kubernetes.io/extended-resource-claim", "true"}};
  c.resource_claims.put(made);
  c.resource_claims.put(device_claim("c", {"gpu-0"}, "r"));
  c.pods.put(bound("p"));
  c.pods.put(testing::pod("q", "work", "n", true, 1));
  c.pods.put(testing::pod("r", "work", "n", true, 1));
  SnapshotBuilder builder;
  const model::Snapshot snapshot = builder.build(c.view(), {}, Instant(std::chrono::hours(500'000))).snapshot;
  std::map<std::string, std::vector<std::uint16_t>> devices;
  snapshot.pods.for_each([&](model::PodId id, const model::Pod& pod) { devices[builder.pod(id)->name] = pod.devices; });
  EXPECT_EQ(devices["p"], (std::vector<std::uint16_t>{1, 3}));
  EXPECT_EQ(devices["q"], (std::vector<std::uint16_t>{2})) << "its claim stands for its request";
  EXPECT_EQ(devices["r"], (std::vector<std::uint16_t>{})) << "it also requests a GPU, whose number is not known";
}

TEST(GpuHolders, ProductNamesTheKindOfGpu) {
  Cluster cluster;
  Object bare = testing::node("n", 0);
  bare["metadata"]["labels"].erase("nvidia.com/gpu.product");
  bare["status"]["allocatable"].erase("nvidia.com/gpu");
  cluster.nodes.put(bare);
  cluster.resource_slices.put(slice("n", gpus(1)));
  SnapshotBuilder builder;
  const model::Snapshot snapshot = builder.build(cluster.view(), {}, {}).snapshot;
  EXPECT_EQ(snapshot.catalog->gpu_kind(snapshot.nodes.at({0}).gpu), "h100_sxm");
}

TEST(GpuHolders, AClaimThatIsGivenBackFreesItsGpu) {
  Cluster cluster;
  cluster.nodes.put(testing::node("n", 8));
  cluster.resource_slices.put(slice("n", gpus(8)));
  cluster.resource_claims.put(device_claim("a", {"gpu-1"}));
  SnapshotBuilder builder;
  EXPECT_EQ(held(builder.build(cluster.view(), {}, {}).snapshot), "1/8");
  cluster.resource_claims.remove("ns/a");
  EXPECT_EQ(held(builder.build(cluster.view(), {}, {}).snapshot), "0/8");
}

TEST(GpuHolders, CapstanPlacesNoPodWithClaims) {
  Cluster cluster;
  cluster.fleet.put({{"metadata", {{"name", "default"}}}, {"spec", {{"layers", {{"placement", "Active"}}}}}});
  cluster.nodes.put(testing::node("n", 8));
  Object pod = bound("p", "");
  pod["spec"]["schedulerName"] = "capstan";
  pod["spec"]["resourceClaims"] = {{{"name", "gpu"}, {"resourceClaimName", "a"}}};
  cluster.pods.put(pod);
  SnapshotBuilder builder;
  const model::Snapshot snapshot = builder.build(cluster.view(), {}, {}).snapshot;
  ASSERT_EQ(snapshot.gangs.size(), 1u) << "its gang waits, so that a verdict names it";
  const model::PodClass* pods = snapshot.catalog->eligibility.find(snapshot.gangs.at({0}).spec.pods.pod_class);
  ASSERT_NE(pods, nullptr);
  EXPECT_FALSE(pods->admits(snapshot.nodes.at({0}).node_class));
}

TEST(GpuHolders, ANodeIsUsedWhileAnythingHoldsItsGpus) {
  Cluster c;
  for (const char* name : {"n", "m", "empty"}) c.nodes.put(testing::node(name, 0));
  for (const char* name : {"n", "m", "empty"}) c.resource_slices.put(slice(name, gpus(4)));
  c.pods.put(bound("by-claim"));
  c.resource_claims.put(device_claim("train", {"gpu-0"}, "by-claim"));
  c.resource_claims.put(device_claim("left", {"gpu-1"}, "", "m"));
  c.pods.put(bound("idle", "empty"));
  const ClusterView view = c.view();
  EXPECT_EQ(GpuHolders(view).used_nodes(view.pods), (std::set<std::string, std::less<>>{"m", "n"}));
}

}  // namespace
}  // namespace capstan::op
