#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decide/scale/scale.h"
#include "model/names.h"
#include "model/snapshot.h"
#include "operator/snapshot/catalog_builder.h"
#include "operator/snapshot/eligibility_ids.h"
#include "operator/snapshot/gpu_holders.h"
#include "operator/snapshot/kept_replicas.h"
#include "operator/view/cluster_view.h"
#include "operator/view/names.h"
#include "operator/view/pod_groups.h"

namespace capstan::op {

/// The target of an InferenceScaler that a service of a snapshot stands for.
struct ServiceOrigin {
  std::string ns;
  std::string scaler;      ///< name of the scaler
  std::string scaler_uid;  ///< distinguishes it from a later object of the same name
  kube::TargetRef target;
  std::size_t position = 0;  ///< position in `targets_of`
  /// The more restrictive of the fleet's and the scaler's mode. It is at most Shadow if another autoscaler has the
  /// target.
  Mode mode = Mode::shadow;
  bool gpu_known = false;  ///< the GPU kind is stated or follows from nodes; otherwise any kind is used

  /// Returns a key that is the same in every process for the same target of the same scaler.
  std::string key() const { return scaler_uid + "/" + target.kind + "/" + target.name; }
  friend bool operator==(const ServiceOrigin&, const ServiceOrigin&) = default;
};

/// Turns the cluster's objects into snapshots. Successive snapshots share the rows that did not change, and the delta
/// lists the rows that did. If only the status of pods and the readings have changed since the last build, the builder
/// updates the rows of these pods. Any other change makes it read all objects again.
///
/// A service stands for one target of an InferenceScaler, and its pods are the pods of that target. Other pods that
/// hold GPUs are gangs without a service, because they use room on their nodes. A pod of another scheduler holds its
/// room from its nomination on (`status.nominatedNodeName`). A target has no row among the services, so that nothing is
/// decided about it, if it does not exist, if its mode is Off, or if an older scaler has the same target. When the
/// scaler of a service is deleted, the service only keeps its position in the catalog.
class SnapshotBuilder {
 public:
  /// The first pod of a replica that serves or drains. Its engine is scraped.
  struct Serving {
    model::ServiceId service;
    const kube::Pod* pod = nullptr;  ///< valid as long as the view of the build
  };
  struct Seen {
    model::Snapshot snapshot;
    model::Delta delta;  ///< changes since the last build
    std::shared_ptr<const std::vector<Serving>> serving = std::make_shared<const std::vector<Serving>>();
  };
  /// Gives the replicas with these first pods their ids, in this order. Call it before the first build.
  void expect(const std::vector<const kube::Pod*>& first_pods);
  Seen build(const ClusterView& view, const Readings& readings, Instant at);
  /// Makes the next build read all objects, whatever has changed.
  void forget_last_look() { last_build_.is_complete = false; }
  /// Returns the number of builds that read all objects.
  std::uint64_t complete_looks() const { return complete_looks_; }

  // These functions return results of the last build.
  model::Names names() const { return {nodes_.shown(), claims_.shown(), gangs_.shown(), pods_.shown()}; }
  const std::vector<decide::scale::Policy>& policies() const { return policies_; }  ///< policies by service
  const std::map<model::ServiceId, ServiceOrigin>& services() const { return origins_; }
  const ObjectKey* node(model::NodeId id) const { return nodes_.find(id); }
  const ObjectKey* group(model::ClaimGroupId id) const { return groups_.find(id); }
  const ObjectKey* claim(model::ClaimId id) const { return claims_.find(id); }
  const ObjectKey* pod(model::PodId id) const { return pods_.find(id); }
  const ObjectKey* gang(model::GangId id) const { return gangs_.find(id); }  ///< its UID is that of its first pod

 private:
  struct FullBuild;
  /// The state that a build keeps for the next one, which can then follow changes of pods' status.
  struct LastBuild {
    bool is_complete = false;  ///< true: the state is usable; false: the next build reads all objects
    ClusterView view;
    Readings readings;
    KeptReplicas replicas;
    std::shared_ptr<const std::vector<Serving>> serving;
  };
  struct Updates;

  // status_look.cc
  std::optional<Seen> follow(const ClusterView& view, const Readings& readings, Instant at);
  bool follow_pods(const std::vector<KeptReplicas::Place>& touched, Updates& updates) const;
  bool follow_gang(const KeptReplicas::Replica& replica, Instant expected_ready_at, Updates& updates) const;
  void follow_readings(const Readings& readings, Updates& updates) const;
  void keep_serving();

  Seen look_at_everything(const ClusterView& view, const Readings& readings, Instant at);
  void follow_catalog(model::Delta& delta);
  void read_nodes(FullBuild& build);
  void read_pools(FullBuild& build);
  void read_claims(FullBuild& build);
  void read_claim_group(const std::string& name, const kube::NodeClaim& claim, const kube::StringMap& labels,
                        model::Claim& row);
  void read_services(FullBuild& build);
  void join_variants(const FullBuild& build, const std::vector<model::ServiceId>& variants);
  model::ServiceId read_target(FullBuild& build, const InferenceScaler& scaler, const TargetOf& target,
                               std::size_t position);
  bool find_gpu_kind(const FullBuild& build, const kube::Workload& workload, const std::vector<PodGroup>& replicas,
                     model::Workload& row);
  bool read_template(FullBuild& build, const kube::Workload& workload, model::Workload& row, bool gpu_stated);
  void read_other_pods(FullBuild& build);
  void read_other_holders(FullBuild& build);
  void add_holder(FullBuild& build, const GpuHolders::Other& holder, model::NodeId node, MilliGpu gpus);
  model::GangId add_gang(FullBuild& build, const PodGroup& group, model::ServiceId service, Instant expected_ready_at);
  void read_placement_request(FullBuild& build, const PodGroup& group, model::Gang& gang);
  void number_gangs(FullBuild& build);
  static bool clamp_moments(FullBuild& build, Instant at);
  model::DomainId zone_of(const kube::StringMap& labels);
  model::OfferingId offering(const kube::StringMap& labels, model::GpuKindId gpu, MilliGpu gpus);

  CatalogBuilder catalog_;
  Identities<model::ServiceId> services_;
  Identities<model::NodeId> nodes_;
  Identities<model::ClaimId> claims_;
  Identities<model::ClaimGroupId> groups_;
  Identities<model::GangId> gangs_;
  Identities<model::PodId> pods_;
  EligibilityIds eligibility_;
  std::vector<decide::scale::Policy> policies_;
  std::map<model::ServiceId, ServiceOrigin> origins_;
  std::map<model::GangId, std::uint32_t> ordinals_;  ///< numbers of replicas whose workload does not number them
  model::Snapshot last_;
  LastBuild last_build_;
  std::uint64_t complete_looks_ = 0;
};

}  // namespace capstan::op
