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

/// Follows every kind of objects that snapshots are made of. Kinds that come with other projects (LeaderWorkerSet,
/// NodeClaim, NodePool, KAI's PodGroup and Queue, ScaledObject, VariantAutoscaling) are followed where the server has
/// them, in the version that it serves; so is our Queue, which a cluster may do without. Targets of any other kind are
/// read by their /scale.
class ClusterWatch {
 public:
  /// `client` outlives the watch.
  ClusterWatch(kube::Client& client, net::Clock clock, RandomStream random);

  void turn();
  Instant next_deadline() const;

  /// All that exists is known: every kind that the server has was read whole once.
  bool synced() const;
  /// What is not known yet and why, a line each: "deployments.apps: 403 Forbidden: …".
  std::vector<std::string> waiting_for() const;
  /// A collection that was never read completely, with the last error if a request for it failed.
  struct Unread {
    std::string name;  ///< "deployments.apps"
    std::optional<kube::ApiError> error;
  };
  std::vector<Unread> unread() const;
  /// Kinds that the server refuses to tell about, and its words: a definition is missing, or a permission.
  std::map<std::string, std::string> refusals() const;

  /// How long ago the server last told of each kind that was read whole once. A kind of another project's that the
  /// server does not have any more is not among them: nothing of it exists.
  std::map<std::string, Duration> ages(Instant now) const;
  Duration oldest(Instant now) const;  ///< of them
  /// Of a kind that is quiet a bookmark tells each minute. What is older than this is no ground to act on: somebody may
  /// have bound the pods, or bought the nodes, that are missing in it.
  static constexpr Duration kAgeMost = std::chrono::minutes(5);

  ClusterView view() const;
  const kube::StoreSnapshot<FleetPolicy>& fleet() const { return fleet_.snapshot(); }
  /// Grows with every change of an object that a decision about replicas may depend on. Nodes, claims and pools, whose
  /// status changes all the time, are seen at the next look.
  std::uint64_t version() const;
  const kube::ServedResources& served() const { return discovery_.served(); }

  /// Totals since the start, for people.
  struct Counters {
    std::uint64_t events = 0;
    std::uint64_t rejected = 0;
    std::uint64_t relists = 0;
  };
  Counters counters() const;

 private:
  void follow(const kube::Resource& resource, kube::Sink& sink);
  bool tells(std::size_t watcher) const;
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
  std::vector<std::unique_ptr<kube::Watcher>> watchers_;
  std::size_t required_ = 0;  ///< of the watchers, those that come first: without their kinds nothing can be decided
  ScaleReader scaled_;
  std::pair<std::uint64_t, std::size_t> scaled_of_{};  ///< versions of scalers and kinds whose targets it follows
};

}  // namespace capstan::op
