// A whole process in mode Active: load rises and falls. The process scales the Deployment, and drains pods before it
// removes them.
#include "operator/act/actuator.h"

#include <gtest/gtest.h>

#include "cluster_server.h"

namespace capstan::op {
namespace {

using namespace std::chrono_literals;
using testing::ClusterServer;
using testing::Object;
using testing::Running;

constexpr const char* kGate = "capstan.dev/serving";

struct ActuatorTest : ::testing::Test {
  ClusterServer server;
  std::unique_ptr<Running> process;

  /// Adds a Deployment, an Active scaler, and a fleet that allows Active. If `gated`, the pods have a readiness gate.
  void begin(int replicas, int waiting, bool gated = true) {
    server.api.acts = [this](const kube::fake::FakeServer::Write& write) { return kubelet(write); };
    testing::put_workload(server, "chat", replicas, waiting);
    const Object gates = {{{"conditionType", kGate}}};
    if (gated) {
      server.api.put(testing::kDeploymentsPath, "ns", "chat",
                     {{"spec", {{"template", {{"spec", {{"readinessGates", gates}}}}}}}});
      for (int i = 1; i <= replicas; ++i) {
        server.api.put(testing::kPodsPath, "ns", "chat-" + std::to_string(i), {{"spec", {{"readinessGates", gates}}}});
      }
    }
    testing::put_scaler(server, "chat", "chat", [](Object& scaler) {
      scaler["spec"]["mode"] = "Active";
      scaler["spec"]["behavior"] = {{"coolDown", "1s"}};
    });
    fleet({{"layers", {{"replicas", "Active"}}}});
    process = std::make_unique<Running>(server, "one");
  }
  void fleet(const Object& spec) { server.api.put(testing::kFleetPath, "", "default", {{"spec", spec}}); }
  void load(int pod, int waiting, int running) {
    server.pages[testing::url_of_pod(pod)] =
        "vllm:num_requests_waiting{model_name=\"llama\"} " + std::to_string(waiting) +
        "\nvllm:num_requests_running{model_name=\"llama\"} " + std::to_string(running) + "\n";
  }
  void pass(Duration duration) { testing::pass(server, {process.get()}, duration); }
  std::int64_t replicas() { return server.api.objects(testing::kDeploymentsPath).at("ns/chat")["spec"]["replicas"]; }
  std::string condition(int pod, const std::string& type) {
    const Object object = server.api.objects(testing::kPodsPath).at("ns/chat-" + std::to_string(pod));
    for (const Object& condition : object["status"]["conditions"]) {
      if (condition["type"] == type) return condition["status"];
    }
    return "";
  }
  std::string gates() { return condition(1, kGate) + " " + condition(2, kGate); }

  /// Acts as the kubelet. It stores the written conditions, and adds the condition Ready with the status of the first
  /// written condition, which is the gate.
  std::optional<std::pair<int, Object>> kubelet(const kube::fake::FakeServer::Write& write) {
    if (!write.apply || write.collection != testing::kPodsPath || write.subresource != "status") return std::nullopt;
    Object conditions = write.body["status"]["conditions"];
    conditions.push_back({{"type", "Ready"}, {"status", conditions.at(0)["status"]}});
    server.api.put(testing::kPodsPath, "ns", write.key.substr(3), {{"status", {{"conditions", conditions}}}});
    return std::pair{200, server.api.objects(testing::kPodsPath).at(write.key)};
  }
};

TEST_F(ActuatorTest, ScalesUpWithLoad) {
  begin(2, 40);
  pass(30s);
  EXPECT_EQ(replicas(), 8) << "doubled twice, one period apart, up to the maximum";
  EXPECT_EQ(gates(), "True True") << "pods with the gate are ready for the router";
}

TEST_F(ActuatorTest, DrainsBeforeScalingDown) {
  begin(2, 0);
  for (int pod : {1, 2}) load(pod, 0, 1);
  pass(60s);
  EXPECT_TRUE(gates() == "False True" || gates() == "True False") << gates();
  EXPECT_EQ(replicas(), 2) << "one request is still running";
  for (int pod : {1, 2}) load(pod, 0, 0);
  pass(30s);
  EXPECT_EQ(replicas(), 1);
}

TEST_F(ActuatorTest, WaitsForASilentDrainingPod) {
  begin(2, 0);
  for (int pod : {1, 2}) load(pod, 0, 1);
  pass(60s);
  const int out = condition(1, kGate) == "False" ? 1 : 2;
  server.pages.erase(testing::url_of_pod(out));
  pass(300s);
  EXPECT_EQ(replicas(), 2);
}

TEST_F(ActuatorTest, DoesNotScaleDownPodsThatCannotDrain) {
  begin(2, 0, false);
  pass(60s);
  EXPECT_EQ(replicas(), 2);
  for (const auto& request : server.api.seen) EXPECT_FALSE(request.path.contains("/scale")) << request.path;
}

TEST_F(ActuatorTest, KillSwitchStopsOnlyWrites) {
  begin(2, 40);
  fleet({{"halt", true}});
  pass(60s);
  EXPECT_EQ(replicas(), 2);
  for (const auto& request : server.api.seen) {
    const bool shown = request.path.contains("/inferencescalers/chat/status") || request.path.contains("/events") ||
                       request.path.contains("/fleetpolicies/default/status") || request.path.contains("/leases") ||
                       request.path.contains("/configmaps");
    if (request.method != "GET") {
      EXPECT_TRUE(shown) << request.method << " " << request.path;
    }
  }
  fleet({{"halt", false}});
  pass(60s);
  EXPECT_EQ(replicas(), 8);
}

TEST_F(ActuatorTest, DrainEndsWhenTheScalerLeavesActive) {
  begin(2, 0);
  for (int pod : {1, 2}) load(pod, 0, 1);
  pass(60s);
  EXPECT_NE(gates(), "True True");
  server.api.put(testing::kScalersPath, "ns", "chat", {{"spec", {{"mode", "Shadow"}}}});
  pass(10s);
  EXPECT_EQ(gates(), "True True") << "the replica is back in the router";
  for (int pod : {1, 2}) load(pod, 0, 0);
  pass(60s);
  EXPECT_EQ(replicas(), 2);
}

TEST_F(ActuatorTest, SuccessorContinuesTheDrain) {
  begin(2, 0);
  for (int pod : {1, 2}) load(pod, 0, 1);
  pass(60s);
  const std::string before = gates();
  EXPECT_NE(before, "True True");
  process = std::make_unique<Running>(server, "two");  // the first process ended without a shutdown
  pass(60s);
  EXPECT_EQ(gates(), before);
  for (int pod : {1, 2}) load(pod, 0, 0);
  pass(60s);
  EXPECT_EQ(replicas(), 1);
}

/// Returns "held" if the node has the annotation that keeps it from being disrupted, otherwise "free".
std::string hold_of(ClusterServer& server, const std::string& node) {
  const Object annotations = server.api.objects("/api/v1/nodes").at(node)["metadata"]["annotations"];
  return annotations.contains(std::string(actuate::kDoNotDisrupt)) ? "held" : "free";
}

TEST_F(ActuatorTest, EndsTheHoldOfANodeWhosePodHoldsGpusByAClaim) {
  server.served["resource.k8s.io"] = {"resourceclaims", "resourceslices"};
  for (const std::string name : {"used", "waiting"}) {
    Object node = testing::node(name, 0);
    node["metadata"]["labels"][std::string(actuate::kClaimGroup)] = "group";
    node["metadata"]["annotations"][std::string(actuate::kDoNotDisrupt)] = "true";
    server.api.put("/api/v1/nodes", "", name, node);
    const Object device = {{"name", "gpu-0"},
                           {"attributes", {{"type", {{"string", "gpu"}}}, {"uuid", {{"string", "GPU-" + name}}}}}};
    server.api.put("/apis/resource.k8s.io/v1/resourceslices", "", name,
                   {{"spec",
                     {{"driver", "gpu.nvidia.com"},
                      {"nodeName", name},
                      {"pool", {{"name", name}, {"generation", 1}}},
                      {"devices", Object::array({device})}}}});
  }
  Object pod = testing::pod("train", "train", "used", true, 0);
  pod["spec"]["containers"][0].erase("resources");
  server.api.put(testing::kPodsPath, "ns", "train", pod);
  const Object result = {{"request", "gpu"}, {"driver", "gpu.nvidia.com"}, {"pool", "used"}, {"device", "gpu-0"}};
  server.api.put(
      "/apis/resource.k8s.io/v1/resourceclaims", "ns", "train",
      {{"status",
        {{"allocation", {{"devices", {{"results", Object::array({result})}}}}},
         {"reservedFor",
          Object::array({{{"resource", "pods"},
                          {"name", "train"},
                          {"uid", server.api.objects(testing::kPodsPath).at("ns/train")["metadata"]["uid"]}}})}}}});
  begin(1, 0);
  fleet({{"layers", {{"replicas", "Active"}, {"placement", "Active"}, {"nodes", "Active"}}}});
  pass(30s);
  EXPECT_EQ(hold_of(server, "used"), "free");
  EXPECT_EQ(hold_of(server, "waiting"), "held") << "nothing holds its GPU yet";
}

TEST(ActuatorView, KeepsItsLookupTablesUntilAnObjectInThemChanges) {
  ClusterServer server;
  testing::ClusterClient client(server, 1);
  Actuator actuator({.client = client.client,
                     .clock = server.clock(),
                     .wall = server.wall(),
                     .fence = [] { return actuate::Permit{}; },
                     .random = RandomStream(1, "act"),
                     .identity = "one"});
  testing::Cluster cluster;
  Object scaler = testing::scaler("chat", "chat");
  scaler["spec"]["mode"] = "Active";
  cluster.scalers.put(scaler);
  cluster.fleet.put({{"metadata", {{"name", "default"}}}, {"spec", {{"layers", {{"replicas", "Active"}}}}}});
  cluster.deployments.put(testing::deployment("chat", 1));
  cluster.nodes.put(testing::node("n"));
  cluster.pods.put(testing::pod("chat-1", "chat", "n", true));
  SnapshotBuilder builder;
  const auto look = [&] {
    (void)builder.build(cluster.view(), {}, testing::kIn2027);
    actuator.set_view(cluster.view(), builder, {});
    return actuator.indexes_built();
  };
  EXPECT_EQ(look(), 1u) << "an active service needs the tables";
  EXPECT_EQ(look(), 1u) << "nothing has changed";
  cluster.scalers.put(scaler);
  EXPECT_EQ(look(), 1u) << "the tables contain no scaler";
  cluster.pods.put(testing::pod("chat-2", "chat"));
  EXPECT_EQ(look(), 2u);
  cluster.pods.remove("ns/chat-2");
  cluster.deployments.put(testing::deployment("chat", 2));
  EXPECT_EQ(look(), 3u);
  cluster.nodes.put(testing::node("n", 4));
  EXPECT_EQ(look(), 4u);
}

}  // namespace
}  // namespace capstan::op
