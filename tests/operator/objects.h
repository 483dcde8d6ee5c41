#pragma once

// The cluster's objects, made for tests from the JSON that a server would send.

#include <gtest/gtest.h>

#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "operator/cluster_view.h"

namespace capstan::op::testing {

using Object = nlohmann::json;

/// Objects of one kind and their store. Every change gets a new resource version.
template <typename View>
class Objects {
 public:
  using Read = View (*)(kube::Json);
  explicit Objects(Read read) : store_(read) {}

  void put(Object object) {
    object["metadata"]["resourceVersion"] = std::to_string(++version_);
    kube::JsonDocument document;
    const std::string text = object.dump();
    store_.set(document.parse(text).value());
    const Object& metadata = object["metadata"];
    const std::string key = kube::key_of(metadata.value("namespace", ""), metadata.value("name", ""));
    objects_[key] = std::move(object);
  }
  void remove(const std::string& key) {
    const auto found = objects_.find(key);
    if (found == objects_.end()) return;
    kube::JsonDocument document;
    const std::string text = found->second.dump();
    store_.erase(document.parse(text).value());
    objects_.erase(found);
  }
  const std::map<std::string, Object>& all() const { return objects_; }
  const kube::StoreSnapshot<View>& snapshot() const { return store_.snapshot(); }

 private:
  kube::Store<View> store_;
  std::map<std::string, Object> objects_;
  int version_ = 0;
};

struct Cluster {
  Objects<InferenceScaler> scalers{read_inference_scaler};
  Objects<FleetPolicy> fleet{read_fleet_policy};
  Objects<kube::Workload> deployments{kube::read_workload};
  Objects<kube::Workload> stateful_sets{kube::read_workload};
  Objects<kube::Workload> leader_worker_sets{kube::read_leader_worker_set};
  Objects<kube::Pod> pods{kube::read_pod};
  Objects<kube::Node> nodes{kube::read_node};
  Objects<kube::NodeClaim> claims{kube::read_node_claim};
  Objects<kube::NodePool> pools{kube::read_node_pool};
  Objects<kube::KaiPodGroup> kai_groups{kube::read_kai_pod_group};
  Objects<kube::HorizontalPodAutoscaler> autoscalers{kube::read_horizontal_pod_autoscaler};
  Objects<kube::ScaledObject> scaled_objects{kube::read_scaled_object};
  Objects<kube::VariantAutoscaling> variant_autoscalings{kube::read_variant_autoscaling};

  ClusterView view() const {
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
            .autoscalers = autoscalers.snapshot(),
            .scaled_objects = scaled_objects.snapshot(),
            .variant_autoscalings = variant_autoscalings.snapshot()};
  }
};

inline Object meta(const std::string& name, const std::string& uid = "") {
  return {{"name", name},
          {"namespace", "ns"},
          {"uid", uid.empty() ? name : uid},
          {"creationTimestamp", "2026-11-21T16:00:00Z"}};
}

/// A scaler of one Deployment, or of another kind.
inline Object scaler(const std::string& name, const std::string& target, const std::string& kind = "Deployment") {
  return {{"metadata", meta(name)},
          {"spec",
           {{"model", "llama"},
            {"slo", {{"ttft", "2s"}}},
            {"roles",
             {{{"role", "both"},
               {"variants",
                {{{"targetRef", {{"apiVersion", "apps/v1"}, {"kind", kind}, {"name", target}}},
                  {"minReplicas", 1},
                  {"maxReplicas", 8}}}}}}}}}};
}

inline Object containers(int gpus) {
  return {{{"name", "engine"}, {"resources", {{"requests", {{"nvidia.com/gpu", std::to_string(gpus)}}}}}}};
}

inline Object deployment(const std::string& name, int replicas, int gpus = 1) {
  return {
      {"kind", "Deployment"},
      {"metadata", meta(name)},
      {"spec",
       {{"replicas", replicas},
        {"selector", {{"matchLabels", {{"app", name}}}}},
        {"template", {{"metadata", {{"labels", {{"app", name}}}}}, {"spec", {{"containers", containers(gpus)}}}}}}}};
}

/// A pod of the Deployment `app`; bound where a node is given.
inline Object pod(const std::string& name, const std::string& app, const std::string& node = "", bool ready = false,
                  int gpus = 1) {
  Object object = {
      {"metadata", meta(name)}, {"spec", {{"containers", containers(gpus)}}}, {"status", {{"phase", "Pending"}}}};
  object["metadata"]["labels"] = {{"app", app}};
  if (!node.empty()) object["spec"]["nodeName"] = node;
  if (ready) object["status"] = {{"phase", "Running"}, {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}};
  return object;
}

inline Object node(const std::string& name, int gpus = 8, const std::string& zone = "a") {
  Object object = {{"metadata", meta(name)},
                   {"status",
                    {{"allocatable", {{"nvidia.com/gpu", std::to_string(gpus)}}},
                     {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}};
  object["metadata"].erase("namespace");
  object["metadata"]["labels"] = {{"topology.kubernetes.io/zone", zone}, {"nvidia.com/gpu.product", "H100"}};
  return object;
}

}  // namespace capstan::op::testing
