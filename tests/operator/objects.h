#pragma once

// Cluster objects for tests, as the JSON that an API server would send.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "operator/view/cluster_view.h"

namespace capstan::op::testing {

using Object = nlohmann::json;

/// A time at which the objects of a test are read.
inline constexpr Instant kIn2027{std::chrono::seconds(1'800'000'000)};

void stamp(Object& object, int version);
std::string text_of(const Object& object);
std::string key_of(const Object& object);

/// The objects of one kind and their store. Every change gets a new resource version.
template <typename View>
class Objects {
 public:
  using Read = View (*)(kube::Json);
  explicit Objects(Read read) : store_(read) {}

  void put(Object object) {
    stamp(object, ++version_);
    kube::JsonDocument document;
    const std::string text = text_of(object);
    store_.set(document.parse(text).value());
    const std::string key = key_of(object);
    objects_[key] = std::move(object);
  }
  void remove(const std::string& key) {
    const auto found = objects_.find(key);
    if (found == objects_.end()) return;
    kube::JsonDocument document;
    const std::string text = text_of(found->second);
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

/// The objects of a cluster, by kind.
struct Cluster {
  Cluster();
  ~Cluster();
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
  Objects<kube::KaiQueue> kai_queues{kube::read_kai_queue};
  Objects<Queue> queues{read_queue};
  Objects<kube::HorizontalPodAutoscaler> autoscalers{kube::read_horizontal_pod_autoscaler};
  Objects<kube::ScaledObject> scaled_objects{kube::read_scaled_object};
  Objects<kube::VariantAutoscaling> variant_autoscalings{kube::read_variant_autoscaling};
  Objects<kube::ResourceSlice> resource_slices{kube::read_resource_slice};
  Objects<kube::ResourceClaim> resource_claims{kube::read_resource_claim};

  ScaledTargets scaled;

  ClusterView view() const;
};

Object meta(const std::string& name, const std::string& uid = "");
/// Returns a scaler of one Deployment or other target. Its policy is Queue, which decides after one or two pages.
Object scaler(const std::string& name, const std::string& target, const std::string& kind = "Deployment");
Object containers(int gpus);
Object deployment(const std::string& name, int replicas, int gpus = 1);
/// Returns a pod of the Deployment `app`, bound if `node` is set.
Object pod(const std::string& name, const std::string& app, const std::string& node = "", bool ready = false,
           int gpus = 1);
Object node(const std::string& name, int gpus = 8, const std::string& zone = "a");

}  // namespace capstan::op::testing
