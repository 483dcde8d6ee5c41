#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kube/node_views.h"
#include "kube/pod_view.h"
#include "kube/resource.h"
#include "kube/scheduling_views.h"
#include "kube/store.h"
#include "kube/workload_views.h"
#include "model/gang.h"
#include "operator/view/queue_view.h"
#include "operator/view/scaler_view.h"

namespace capstan::op {

/// Targets of kinds that nobody watches, as their /scale last told.
struct ScaledTargets {
  struct One {
    kube::Resource resource;
    kube::Workload workload;  ///< what its kind calls otherwise than a Deployment is as if it was not there
    friend bool operator==(const One&, const One&) = default;
  };
  std::vector<One> found;
  std::map<std::string, std::string> troubles;  ///< by `target_key`: why one cannot be read
  friend bool operator==(const ScaledTargets&, const ScaledTargets&) = default;
};

/// "Deployment ns/chat"
std::string target_key(std::string_view kind, std::string_view ns, std::string_view name);
/// Kinds whose objects are all known.
bool is_watched(std::string_view kind);

/// What is known of the cluster's objects at one moment. Immutable; copies share structure.
struct ClusterView {
  kube::StoreSnapshot<InferenceScaler> scalers;
  kube::StoreSnapshot<FleetPolicy> fleet;
  kube::StoreSnapshot<kube::Workload> deployments;
  kube::StoreSnapshot<kube::Workload> stateful_sets;
  kube::StoreSnapshot<kube::Workload> leader_worker_sets;
  kube::StoreSnapshot<kube::Pod> pods;
  kube::StoreSnapshot<kube::Node> nodes;
  kube::StoreSnapshot<kube::NodeClaim> claims;
  kube::StoreSnapshot<kube::NodePool> pools;
  kube::StoreSnapshot<kube::KaiPodGroup> kai_groups;
  kube::StoreSnapshot<kube::KaiQueue> kai_queues;
  kube::StoreSnapshot<Queue> queues;
  kube::StoreSnapshot<kube::HorizontalPodAutoscaler> autoscalers;
  kube::StoreSnapshot<kube::ScaledObject> scaled_objects;
  kube::StoreSnapshot<kube::VariantAutoscaling> variant_autoscalings;
  std::shared_ptr<const ScaledTargets> scaled;  ///< never null
};

/// What the engines say of themselves, by the uid of the pod that was asked. A pod that is not there gave nothing.
using Readings = std::map<std::string, model::ReplicaSignals, std::less<>>;

/// Moments in a cluster count from the Unix epoch.
inline Instant instant_of(kube::WallTime time) { return {std::chrono::microseconds(time.unix_us)}; }

/// GPUs of any vendor: what is asked for or there of "nvidia.com/gpu", "amd.com/gpu" and their like. Never more than
/// ten thousand.
MilliGpu gpus_of(const kube::Resources& resources);

/// Finds the workloads that scalers point at, by kind, namespace and name. Points into the view that it was made of.
class Targets {
 public:
  explicit Targets(const ClusterView& view);
  /// Null where there is none, or where it could not be read.
  const kube::Workload* find(std::string_view ns, const kube::TargetRef& target) const;

 private:
  std::map<std::string, const kube::Workload*, std::less<>> by_key_;
};

/// Points into the view that it was made of.
using ScalersByUid = std::map<std::string, const InferenceScaler*>;
ScalersByUid scalers_by_uid(const ClusterView& view);

/// The FleetPolicy named default, in the snapshot. Without one: replicas in Shadow, the other layers Off.
const FleetPolicy& fleet_policy(const kube::StoreSnapshot<FleetPolicy>& fleet);
/// How far the fleet lets replicas be scaled.
Mode fleet_mode(const ClusterView& view);
/// Whether the kill switch is on.
bool fleet_halted(const kube::StoreSnapshot<FleetPolicy>& fleet);

}  // namespace capstan::op
