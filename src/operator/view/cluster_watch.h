#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "kube/client.h"
#include "kube/discovery.h"
#include "kube/watcher.h"
#include "net/monotonic.h"
#include "operator/view/cluster_view.h"
#include "operator/view/scale_reader.h"

namespace capstan::op {

/// Watches every kind of objects that snapshots need. Capstan's Queue, the kinds of dynamic resource allocation
/// (ResourceSlice, ResourceClaim) and those of other projects (LeaderWorkerSet, NodeClaim, NodePool, KAI's PodGroup and
/// Queue, ScaledObject, VariantAutoscaling) are watched if the server has them, in the version that it serves. Targets
/// of any other kind are read through their /scale subresource.
class ClusterWatch {
 public:
  /// The client must outlive the watch.
  ClusterWatch(kube::Client& client, net::Clock clock, RandomStream random);

  void run_once();
  Instant next_deadline() const;

  /// Returns true if the list of APIs, every watched kind and every target of another kind were read at least once.
  bool synced() const;
  /// Returns a line for each kind that was not read yet, with the reason: "deployments.apps: 403 Forbidden: …".
  std::vector<std::string> waiting_for() const;
  /// A collection that was never read completely, with the last error if a request for it failed.
  struct UnreadCollection {
    std::string name;  ///< "deployments.apps"
    std::optional<kube::ApiError> error;
  };
  std::vector<UnreadCollection> unread() const;
  /// Returns the kinds that the server refuses to list, because a definition or a permission is missing, with the
  /// error of each.
  std::map<std::string, std::string> refusals() const;

  /// Returns the age of the copy of each kind that was read completely once. An optional kind that the server no longer
  /// has is left out, because it has no objects.
  std::map<std::string, Duration> ages(Instant now) const;
  Duration oldest(Instant now) const;  ///< the largest of these ages
  /// Largest age of a copy on which the controller acts. An older copy may lack bound pods or bought nodes. On a quiet
  /// watch the server sends a bookmark once a minute.
  static constexpr Duration kMaxAge = std::chrono::minutes(5);

  ClusterView view() const;
  const kube::StoreSnapshot<FleetPolicy>& fleet() const { return fleet_.snapshot(); }
  /// Returns a number that grows with every change that is worth an early decision about replicas. Changes of nodes,
  /// NodeClaims, NodePools, queues and ResourceSlices are left out. The next pass reads them.
  std::uint64_t version() const;
  const kube::ServedResources& served() const { return discovery_.served(); }

  /// Totals since the start, for metrics and logs.
  struct Counters {
    std::uint64_t events = 0;
    std::uint64_t rejected = 0;
    std::uint64_t relists = 0;
  };
  Counters counters() const;

 private:
  void follow(const kube::Resource& resource, kube::Sink& sink);
  bool is_usable(std::size_t watcher) const;
  void follow_optional(const kube::Resource& resource, kube::Sink& sink);

  kube::Client& client_;
  net::Clock clock_;
  RandomStream random_;
  kube::Discovery discovery_;
  kube::JsonDocument document_;

  kube::Store<InferenceScaler> scalers_{read_inference_scaler};
  kube::Store<FleetPolicy> fleet_{read_fleet_policy};
  kube::Store<kube::Workload> deployments_;
  kube::Store<kube::Workload> stateful_sets_;
  kube::Store<kube::Workload> leader_worker_sets_{kube::read_leader_worker_set};
  kube::Store<kube::Pod> pods_{kube::read_pod};
  kube::Store<kube::Node> nodes_{kube::read_node};
  kube::Store<kube::NodeClaim> claims_{kube::read_node_claim};
  kube::Store<kube::NodePool> pools_{kube::read_node_pool};
  kube::Store<kube::KaiPodGroup> kai_groups_{kube::read_kai_pod_group};
  kube::Store<kube::KaiQueue> kai_queues_{kube::read_kai_queue};
  kube::Store<Queue> queues_{read_queue};
  kube::Store<kube::HorizontalPodAutoscaler> autoscalers_{kube::read_horizontal_pod_autoscaler};
  kube::Store<kube::ScaledObject> scaled_objects_{kube::read_scaled_object};
  kube::Store<kube::VariantAutoscaling> variant_autoscalings_{kube::read_variant_autoscaling};
  kube::Store<kube::ResourceSlice> resource_slices_{kube::read_resource_slice};
  kube::Store<kube::ResourceClaim> resource_claims_{kube::read_resource_claim};
  std::vector<std::unique_ptr<kube::Watcher>> watchers_;
  std::size_t required_ = 0;  ///< every decision needs the first `required_` watchers
  ScaleReader scaled_;
  std::pair<std::uint64_t, std::size_t> scaled_of_{};  ///< scaler version and number of kinds at the last `follow`
};

}  // namespace capstan::op
