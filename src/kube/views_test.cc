// Reads every view from an object as a server sends it.
#include <gtest/gtest.h>

#include "kube/device_views.h"
#include "kube/network_views.h"
#include "kube/node_views.h"
#include "kube/pod_view.h"
#include "kube/scheduling_views.h"
#include "kube/workload_views.h"

namespace capstan::kube {
namespace {

using namespace std::chrono_literals;

struct ViewsTest : testing::Test {
  JsonDocument document;
  Json object(std::string_view text) {
    const Result<Json> root = document.parse(text);
    EXPECT_TRUE(root) << root.error().text();
    return root.value_or(Json());
  }
};

TEST_F(ViewsTest, DevicesAndTheirClaims) {
  const ResourceSlice slice = read_resource_slice(object(R"({"metadata": {"name": "s"}, "spec": {
    "driver": "gpu.nvidia.com", "nodeName": "n", "pool": {"name": "n", "generation": 3, "resourceSliceCount": 1},
    "devices": [
      {"name": "gpu-0", "attributes": {"type": {"string": "gpu"}, "uuid": {"string": "GPU-0"},
        "productName": {"string": "NVIDIA H100 80GB HBM3"}}},
      {"name": "mig-1", "attributes": {"gpu.nvidia.com/type": {"string": "mig"}, "parentUUID": {"string": "GPU-0"}}},
      {"name": "old", "basic": {"attributes": {"type": {"string": "gpu"}}}}, {}]}})"));
  EXPECT_EQ(slice.generation, 3);
  EXPECT_EQ(slice.devices, (std::vector<Device>{{"gpu-0", "gpu", "GPU-0", "", "NVIDIA H100 80GB HBM3"},
                                                {"mig-1", "mig", "", "GPU-0", ""},
                                                {"old", "gpu", "", "", ""},
                                                {}}));
  const ResourceClaim claim = read_resource_claim(object(R"({"metadata": {"name": "c", "annotations":
    {"resource.kubernetes.io/extended-resource-claim": "true"}}, "status": {
    "reservedFor": [{"resource": "pods", "uid": "p"}, {"apiGroup": "x", "resource": "pods", "uid": "q"}],
    "allocation": {"devices": {"results": [{"driver": "d", "pool": "n", "device": "gpu-0"},
      {"driver": "d", "pool": "n", "device": "gpu-1", "adminAccess": true}]},
      "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [
        {"key": "metadata.name", "operator": "In", "values": ["n"]}]}]}}}})"));
  EXPECT_EQ(claim.grants, (std::vector<ResourceClaim::Grant>{{"d", "n", "gpu-0"}}));
  EXPECT_EQ(claim.node, "n");
  EXPECT_EQ(claim.reserved_for, (std::vector<std::string>{"p"}));
  EXPECT_TRUE(claim.is_for_extended_resource);
  EXPECT_EQ(read_resource_claim(object(R"({"metadata": {"name": "c"}})")).grants, std::vector<ResourceClaim::Grant>());
}

TEST_F(ViewsTest, Pod) {
  const Pod pod = read_pod(object(R"({"metadata": {"name": "p"}, "spec": {
    "nodeName": "n", "schedulerName": "capstan", "priority": 5, "nodeSelector": {"gpu": "h100"},
    "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
      {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]}]}}},
    "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
    "schedulingGates": [{"name": "hold"}], "readinessGates": [{"conditionType": "capstan.dev/serving"}],
    "resourceClaims": [{"name": "gpu"}], "terminationGracePeriodSeconds": 600,
    "initContainers": [
      {"name": "sidecar", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}},
      {"name": "download", "resources": {"requests": {"cpu": "6", "memory": "1Gi"}}}],
    "containers": [
      {"name": "vllm", "image": "vllm/vllm-openai:v0.11", "args": ["--model", "m", "--max-num-seqs", "${SEQS}"],
       "env": [{"name": "SECRET", "valueFrom": {}}, {"name": "SEQS", "value": "64"},
               {"name": "NVIDIA_VISIBLE_DEVICES", "value": "3,0"}],
       "ports": [{"name": "http", "containerPort": 8000}],
       "resources": {"limits": {"nvidia.com/gpu": "8", "cpu": "4"}, "requests": {"cpu": "3500m"}}},
      {"name": "proxy", "resources": {"requests": {"cpu": 1}}}],
    "overhead": {"cpu": "100m"}},
    "status": {"phase": "Running", "podIP": "127.16.0.5", "startTime": "2026-11-21T16:15:33Z",
      "conditions": [{"type": "Ready", "status": "True"}, {"type": "PodScheduled", "status": "False",
        "reason": "Unschedulable"}, {"type": "Initialized", "status": "True",
        "lastTransitionTime": "2026-11-21T16:15:59Z"}],
      "containerStatuses": [{"restartCount": 2, "state": {"running": {"startedAt": "2026-11-21T16:16:00Z"}}},
        {"restartCount": 1, "state": {"running": {"startedAt": "2026-11-21T16:17:10Z"}}}]}})"));
  EXPECT_EQ(wall_time_seconds(pod.initialized_at), "2026-11-21T16:15:59Z");
  EXPECT_EQ(wall_time_seconds(pod.containers_started_at), "2026-11-21T16:17:10Z") << "the last container";
  EXPECT_EQ(pod.spec.node, "n");
  EXPECT_TRUE(pod.bound());
  EXPECT_TRUE(pod.ready());
  EXPECT_FALSE(pod.over());
  EXPECT_EQ(pod.spec.requests.get("nvidia.com/gpu"), 8'000) << "a limit counts as a request";
  EXPECT_EQ(pod.spec.requests.get("cpu"), 7'100) << "the start needs more than the containers: 1 + 6 plus overhead";
  EXPECT_EQ(pod.spec.requests.get("memory"), 1'073'741'824'000);
  EXPECT_EQ(pod.spec.requests.get("none"), 0);
  ASSERT_EQ(pod.spec.node_affinity.size(), 1u);
  EXPECT_EQ(pod.spec.node_affinity[0][0].values, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(pod.spec.tolerations[0], (Toleration{"nvidia.com/gpu", "Exists", "", "NoSchedule"}));
  EXPECT_EQ(pod.spec.scheduling_gates, (std::vector<std::string>{"hold"}));
  EXPECT_EQ(pod.spec.readiness_gates, (std::vector<std::string>{"capstan.dev/serving"}));
  EXPECT_EQ(pod.spec.containers[0].ports, (std::vector<ContainerPort>{{"http", 8000}}));
  EXPECT_EQ(pod.spec.visible_gpus, (std::vector<std::string>{"0", "3"}));
  EXPECT_EQ(pod.spec.containers[0].step_limits, (manifest::StepLimits{.sequences = 64, .tokens = 0}));
  EXPECT_TRUE(pod.spec.has_resource_claims);
  EXPECT_EQ(pod.spec.termination_grace_s, 600);
  EXPECT_EQ(pod.restarts, 3);
  EXPECT_EQ(pod.ip, "127.16.0.5");
  EXPECT_EQ(find_condition(pod.conditions, "PodScheduled")->reason, "Unschedulable");
}

TEST_F(ViewsTest, Node) {
  const Node node = read_node(object(R"({"metadata": {"name": "n", "labels": {"a": "b"}},
    "spec": {"providerID": "kwok://n", "unschedulable": true, "taints": [{"key": "k", "effect": "NoSchedule"}]},
    "status": {"capacity": {"nvidia.com/gpu": "8"}, "allocatable": {"nvidia.com/gpu": "7", "cpu": "95500m"},
      "conditions": [{"type": "Ready", "status": "Unknown"}]}})"));
  EXPECT_TRUE(node.unschedulable);
  EXPECT_EQ(node.taints, (std::vector<Taint>{{"k", "", "NoSchedule"}}));
  EXPECT_EQ(node.allocatable.get("nvidia.com/gpu"), 7'000);
  EXPECT_EQ(node.allocatable.get("cpu"), 95'500);
  EXPECT_FALSE(node.ready());
  EXPECT_FALSE(node.conditions[0].is_false) << "Unknown is neither true nor false";
}

TEST_F(ViewsTest, NodeClaimAndNodePool) {
  const NodeClaim claim = read_node_claim(object(R"({"metadata": {"name": "c"}, "spec": {
    "expireAfter": "720h", "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"},
    "requirements": [{"key": "karpenter.sh/nodepool", "operator": "In", "values": ["gpu"]}],
    "resources": {"requests": {"nvidia.com/gpu": "8"}}, "startupTaints": [{"key": "s", "value": "v",
      "effect": "NoExecute"}]},
    "status": {"nodeName": "n", "providerID": "kwok://n", "conditions": [
      {"type": "Launched", "status": "True"}, {"type": "Registered", "status": "False",
        "reason": "NodeNotFound"}]}})"));
  EXPECT_TRUE(claim.launched());
  EXPECT_FALSE(claim.registered());
  EXPECT_EQ(claim.spec.expire_after, 720h);
  EXPECT_EQ(claim.spec.node_class, (TargetRef{"karpenter.kwok.sh", "KWOKNodeClass", "default"}));
  EXPECT_EQ(claim.requests.get("nvidia.com/gpu"), 8'000);

  const NodePool pool = read_node_pool(object(R"({"metadata": {"name": "gpu"}, "spec": {"weight": 10,
    "limits": {"nvidia.com/gpu": 64},
    "template": {"metadata": {"labels": {"team": "ml"}}, "spec": {"expireAfter": "Never", "requirements": [
      {"key": "node.kubernetes.io/instance-type", "operator": "Exists", "minValues": 2}]}},
    "disruption": {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "30s",
      "budgets": [{"nodes": "10%", "reasons": ["Drifted"], "schedule": "@daily", "duration": "10m"}]}},
    "status": {"resources": {"nvidia.com/gpu": "16"}}})"));
  EXPECT_EQ(pool.limits->get("nvidia.com/gpu"), 64'000);
  EXPECT_EQ(pool.in_use.get("nvidia.com/gpu"), 16'000);
  EXPECT_EQ(pool.node.expire_after, std::nullopt);
  EXPECT_EQ(pool.node.requirements[0].min_values, 2);
  EXPECT_EQ(pool.consolidate_after, 30s);
  EXPECT_EQ(pool.budgets[0], (DisruptionBudget{"10%", "@daily", 10min, {"Drifted"}}));
  EXPECT_EQ(pool.labels.get("team"), "ml");
  EXPECT_FALSE(read_node_pool(Json()).limits.has_value());
}

TEST_F(ViewsTest, Workloads) {
  const Workload deployment =
      read_workload(object(R"({"kind": "Deployment", "metadata": {"name": "d", "managedFields": [
      {"manager": "hpa", "time": "2026-11-21T16:15:33Z", "subresource": "scale",
        "fieldsV1": {"f:spec": {"f:replicas": {}}}},
      {"manager": "kubectl", "time": "2026-11-20T16:15:33Z", "fieldsV1": {"f:spec": {"f:replicas": {},
        "f:template": {}}}},
      {"manager": "other", "time": "2026-11-21T17:00:00Z", "fieldsV1": {"f:status": {"f:replicas": {}}}}]},
    "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "v"}, "matchExpressions": [
      {"key": "tier", "operator": "NotIn", "values": ["test"]}]},
      "template": {"metadata": {"labels": {"app": "v"}}, "spec": {"containers": [
        {"name": "c", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}}},
    "status": {"replicas": 3, "readyReplicas": 2, "updatedReplicas": 1, "observedGeneration": 7}})"));
  EXPECT_EQ(deployment.kind, "Deployment");
  EXPECT_EQ(deployment.replicas, 3);
  EXPECT_EQ(deployment.ready_replicas, 2);
  EXPECT_EQ(deployment.replicas_managers, (std::vector<std::string>{"kubectl", "hpa"}));
  EXPECT_TRUE(deployment.selector.matches({{"app", "v"}}));
  EXPECT_FALSE(deployment.selector.matches({{"app", "v"}, {"tier", "test"}}));
  EXPECT_FALSE(deployment.selector.matches({}));
  EXPECT_EQ(deployment.pod.requests.get("nvidia.com/gpu"), 1'000);

  const Workload group = read_leader_worker_set(object(R"({"metadata": {"name": "l"}, "spec": {"replicas": 2,
    "leaderWorkerTemplate": {"size": 4, "leaderTemplate": {"spec": {"containers": [{"name": "leader"}]}},
      "workerTemplate": {"spec": {"containers": [{"name": "worker"}]}}}}})"));
  EXPECT_EQ(group.pods_per_replica, 4);
  EXPECT_EQ(group.leader->containers[0].name, "leader");
  EXPECT_EQ(group.pod.containers[0].name, "worker");
  EXPECT_EQ(read_workload(Json()).replicas, 1) << "the default of the API";
}

TEST_F(ViewsTest, Selectors) {
  EXPECT_FALSE(read_selector(Json()).matches({})) << "an absent selector selects nothing";
  EXPECT_TRUE(read_selector(object("{}")).matches({{"a", "b"}})) << "an empty selector selects everything";
  const Selector selector = read_selector(object(R"({"matchExpressions": [
    {"key": "a", "operator": "Exists"}, {"key": "b", "operator": "DoesNotExist"}, {"key": "c",
      "operator": "In", "values": ["1"]}]})"));
  EXPECT_TRUE(selector.matches({{"a", ""}, {"c", "1"}}));
  EXPECT_FALSE(selector.matches({{"a", ""}, {"b", ""}, {"c", "1"}}));
  EXPECT_FALSE(selector.matches({{"a", ""}, {"c", "2"}}));
  EXPECT_FALSE(
      read_selector(object(R"({"matchExpressions": [{"key": "a", "operator": "Near"}]})")).matches({{"a", ""}}));
}

TEST_F(ViewsTest, OtherScalers) {
  const HorizontalPodAutoscaler hpa = read_horizontal_pod_autoscaler(object(R"({"metadata": {"name": "h"}, "spec": {
    "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}, "maxReplicas": 9},
    "status": {"currentReplicas": 2, "desiredReplicas": 4}})"));
  EXPECT_EQ(hpa.target, (TargetRef{"apps/v1", "Deployment", "d"}));
  EXPECT_EQ(hpa.min_replicas, 1);
  EXPECT_EQ(hpa.desired_replicas, 4);

  const ScaledObject scaler = read_scaled_object(object(R"({"metadata": {"name": "s", "annotations": {
      "autoscaling.keda.sh/paused": "true"}}, "spec": {"scaleTargetRef": {"name": "d"}, "minReplicaCount": 2,
    "triggers": [{"type": "prometheus", "metadata": {"query": "up"}}]}, "status": {"hpaName": "keda-hpa-s"}})"));
  EXPECT_TRUE(scaler.paused);
  EXPECT_EQ(scaler.target, (TargetRef{"apps/v1", "Deployment", "d"}));
  EXPECT_EQ(scaler.triggers, (std::vector<std::string>{"prometheus"}));
  EXPECT_EQ(scaler.hpa, "keda-hpa-s");
  EXPECT_FALSE(
      read_scaled_object(object(R"({"metadata": {"annotations": {"autoscaling.keda.sh/paused": "false"}}})")).paused);
  EXPECT_TRUE(
      read_scaled_object(object(R"({"metadata": {"annotations": {"autoscaling.keda.sh/paused-replicas": "0"}}})"))
          .paused);

  const PodDisruptionBudget budget = read_pod_disruption_budget(object(R"({"metadata": {"name": "b"}, "spec": {
    "minAvailable": "50%", "maxUnavailable": 1, "selector": {}}, "status": {"disruptionsAllowed": 1}})"));
  EXPECT_EQ(budget.min_available, "50%");
  EXPECT_EQ(budget.max_unavailable, "1");
  EXPECT_TRUE(budget.selector.matches({}));
}

TEST_F(ViewsTest, ServicesAndTheirAddresses) {
  const Service service = read_service(object(R"({"metadata": {"name": "s"}, "spec": {"clusterIP": "None",
    "selector": {"app": "v"}, "ports": [{"name": "http", "port": 80, "targetPort": 8000}, {"port": 81,
      "targetPort": "x"}]}})"));
  EXPECT_TRUE(service.headless);
  EXPECT_EQ(service.ports, (std::vector<ServicePort>{{"http", 80, "8000"}, {"", 81, "x"}}));

  const EndpointSlice slice = read_endpoint_slice(object(R"({"metadata": {"name": "s-1", "labels": {
      "kubernetes.io/service-name": "s"}}, "ports": [{"name": "http", "port": 8000}], "endpoints": [
    {"addresses": ["10.0.0.1"], "conditions": {}, "targetRef": {"kind": "Pod", "name": "p"}, "nodeName": "n"},
    {"addresses": ["10.0.0.2"], "conditions": {"ready": false, "serving": true, "terminating": true}}]})"));
  EXPECT_EQ(slice.service, "s");
  EXPECT_EQ(slice.endpoints[0], (Endpoint{"10.0.0.1", true, true, false, "p", "n"}));
  EXPECT_EQ(slice.endpoints[1], (Endpoint{"10.0.0.2", false, true, true, "", ""}));
}

TEST_F(ViewsTest, Scheduling) {
  const PriorityClass priority = read_priority_class(object(R"({"metadata": {"name": "p"}, "value": -10,
    "globalDefault": true, "preemptionPolicy": "Never"})"));
  EXPECT_EQ(priority.value, -10);
  EXPECT_TRUE(priority.global_default);
  EXPECT_FALSE(priority.preempts);

  const KaiPodGroup group = read_kai_pod_group(object(R"({"metadata": {"name": "g"}, "spec": {"minMember": 4,
    "queue": "team", "stalenessGracePeriod": "60s", "topologyConstraint": {"topology": "t",
      "requiredTopologyLevel": "rack"},
    "subGroups": [{"name": "workers", "minMember": 3, "parent": "all"}]}})"));
  EXPECT_EQ(group.min_member, 4);
  EXPECT_EQ(group.staleness_grace, 60s);
  EXPECT_EQ(group.topology, (TopologyConstraint{"t", "rack", ""}));
  EXPECT_EQ(group.sub_groups[0].min_member, 3);

  const KaiQueue queue =
      read_kai_queue(object(R"({"metadata": {"name": "q"}, "spec": {"parentQueue": "root", "priority": 7,
    "preemptMinRuntime": "1h0m0s", "resources": {"gpu": {"quota": 1.5, "limit": -1, "overQuotaWeight": 2},
      "cpu": {"quota": 8000, "limit": 16000}, "memory": {"quota": 1000, "overQuotaWeight": 1}}}})"));
  EXPECT_EQ(queue.priority, 7);
  EXPECT_EQ(queue.gpu, (KaiQueue::Share{1'500, KaiQueue::kUnlimited, 2'000}));
  EXPECT_EQ(queue.cpu, (KaiQueue::Share{8'000'000, 16'000'000, 0}));
  EXPECT_EQ(queue.memory, (KaiQueue::Share{1'000'000, 0, 1'000}));
  EXPECT_EQ(read_kai_queue(object(R"({"spec": {}})")).priority, 100) << "KAI's default";
  EXPECT_EQ(queue.preempt_min_runtime, 1h);
}

TEST_F(ViewsTest, AbsentObjectsGiveEmptyViews) {
  EXPECT_EQ(read_pod(Json()).spec.requests, Resources());
  EXPECT_FALSE(read_node(Json()).ready());
  EXPECT_EQ(read_endpoint_slice(object("[]")).endpoints.size(), 0u);
}

}  // namespace
}  // namespace capstan::kube
