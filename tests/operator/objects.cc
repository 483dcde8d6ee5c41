#include "objects.h"

namespace capstan::op::testing {

void stamp(Object& object, int version) { object["metadata"]["resourceVersion"] = std::to_string(version); }

std::string text_of(const Object& object) { return object.dump(); }

std::string key_of(const Object& object) {
  const Object& metadata = object["metadata"];
  return kube::key_of(metadata.value("namespace", ""), metadata.value("name", ""));
}

Cluster::Cluster() = default;
Cluster::~Cluster() = default;

ClusterView Cluster::view() const {
  return {.scalers = scalers.snapshot(),
          .fleet = fleet.snapshot(),
          .deployments = deployments.snapshot(),
          .stateful_sets = stateful_sets.snapshot(),
          .leader_worker_sets = leader_worker_sets.snapshot(),
          .pods = pods.snapshot(),
          .nodes = nodes.snapshot(),
          .claims = claims.snapshot(),
          .pools = pools.snapshot(),
          .kai_groups = kai_groups.snapshot(),
          .kai_queues = kai_queues.snapshot(),
          .queues = queues.snapshot(),
          .autoscalers = autoscalers.snapshot(),
          .scaled_objects = scaled_objects.snapshot(),
          .variant_autoscalings = variant_autoscalings.snapshot(),
          .resource_slices = resource_slices.snapshot(),
          .resource_claims = resource_claims.snapshot(),
          .scaled = std::make_shared<const ScaledTargets>(scaled)};
}

Object meta(const std::string& name, const std::string& uid) {
  return {{"name", name},
          {"namespace", "ns"},
          {"uid", uid.empty() ? name : uid},
          {"creationTimestamp", "2026-11-21T16:00:00Z"}};
}

Object scaler(const std::string& name, const std::string& target, const std::string& kind) {
  return {{"metadata", meta(name)},
          {"spec",
           {{"model", "llama"},
            {"policy", "Queue"},
            {"slo", {{"ttft", "2s"}}},
            {"roles",
             {{{"role", "both"},
               {"variants",
                {{{"targetRef", {{"apiVersion", "apps/v1"}, {"kind", kind}, {"name", target}}},
                  {"minReplicas", 1},
                  {"maxReplicas", 8}}}}}}}}}};
}

Object containers(int gpus) {
  return {{{"name", "engine"}, {"resources", {{"requests", {{"nvidia.com/gpu", std::to_string(gpus)}}}}}}};
}

Object deployment(const std::string& name, int replicas, int gpus) {
  return {
      {"kind", "Deployment"},
      {"metadata", meta(name)},
      {"spec",
       {{"replicas", replicas},
        {"selector", {{"matchLabels", {{"app", name}}}}},
        {"template", {{"metadata", {{"labels", {{"app", name}}}}}, {"spec", {{"containers", containers(gpus)}}}}}}}};
}

Object pod(const std::string& name, const std::string& app, const std::string& node, bool ready, int gpus) {
  Object object = {
      {"metadata", meta(name)}, {"spec", {{"containers", containers(gpus)}}}, {"status", {{"phase", "Pending"}}}};
  object["metadata"]["labels"] = {{"app", app}};
  if (!node.empty()) object["spec"]["nodeName"] = node;
  if (ready) object["status"] = {{"phase", "Running"}, {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}};
  return object;
}

Object node(const std::string& name, int gpus, const std::string& zone) {
  Object object = {{"metadata", meta(name)},
                   {"status",
                    {{"allocatable", {{"nvidia.com/gpu", std::to_string(gpus)}}},
                     {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}};
  object["metadata"].erase("namespace");
  object["metadata"]["labels"] = {{"topology.kubernetes.io/zone", zone}, {"nvidia.com/gpu.product", "H100"}};
  return object;
}

}  // namespace capstan::op::testing
