#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/device_views.h"
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

/// Targets of kinds that are not watched, as their /scale subresource last described them.
struct ScaledTargets {
  struct Target {
    kube::Resource resource;
    kube::Workload workload;  ///< fields of a Deployment that its kind lacks are empty
    friend bool operator==(const Target&, const Target&) = default;
  };
  std::vector<Target> targets;
  std::map<std::string, std::string> troubles;  ///< reasons why a target cannot be read, by `target_key`
  friend bool operator==(const ScaledTargets&, const ScaledTargets&) = default;
};

/// Returns a key such as "Deployment ns/chat".
std::string target_key(std::string_view kind, std::string_view ns, std::string_view name);
/// Returns true for a kind whose objects are all watched.
bool is_watched(std::string_view kind);

/// The known objects of a cluster at one moment. Immutable; copies share structure.
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
  kube::StoreSnapshot<kube::ResourceSlice> resource_slices;
  kube::StoreSnapshot<kube::ResourceClaim> resource_claims;
  std::shared_ptr<const ScaledTargets> scaled;  ///< never null
};

/// The signals of engines, by the UID of the pod that was scraped. A pod without an entry gave none. Immutable; copies
/// share the entries.
class Readings {
 public:
  using Map = std::map<std::string, model::ReplicaSignals, std::less<>>;

  Readings() : Readings(Map()) {}
  Readings(std::initializer_list<Map::value_type> entries) : Readings(Map(entries)) {}
  explicit Readings(Map entries) : entries_(std::make_shared<const Map>(std::move(entries))) {}

  const Map& entries() const { return *entries_; }
  /// Returns the signals of a pod, all missing if it gave none.
  const model::ReplicaSignals& signals_of(std::string_view uid) const {
    static const model::ReplicaSignals kNone;
    const auto found = entries_->find(uid);
    return found == entries_->end() ? kNone : found->second;
  }
  /// Returns true if both are copies of the same readings, whose entries need no comparison.
  bool is_copy_of(const Readings& other) const { return entries_ == other.entries_; }

 private:
  std::shared_ptr<const Map> entries_;
};

/// Returns a time of the cluster as an instant, which counts from the Unix epoch.
inline Instant instant_of(kube::WallTime time) { return {std::chrono::microseconds(time.unix_us)}; }

/// Returns the GPUs of all vendors ("nvidia.com/gpu", "amd.com/gpu" …), at most 10,000.
MilliGpu gpus_of(const kube::Resources& resources);

/// Finds the targets of scalers by kind, namespace and name. Points into its view.
class Targets {
 public:
  explicit Targets(const ClusterView& view);
  /// Returns null if the target does not exist or could not be read.
  const kube::Workload* find(std::string_view ns, const kube::TargetRef& target) const;

 private:
  std::map<std::string, const kube::Workload*, std::less<>> by_key_;
};

/// The scalers of a view by UID. Points into the view.
using ScalersByUid = std::map<std::string, const InferenceScaler*>;
ScalersByUid scalers_by_uid(const ClusterView& view);

/// Returns the FleetPolicy named default. Without one, the replica layer is in Shadow and the other layers are Off.
const FleetPolicy& fleet_policy(const kube::StoreSnapshot<FleetPolicy>& fleet);
/// Returns the mode of the fleet's replica layer.
Mode fleet_mode(const ClusterView& view);
/// Returns true if the fleet's kill switch is on.
bool fleet_halted(const kube::StoreSnapshot<FleetPolicy>& fleet);

}  // namespace capstan::op
