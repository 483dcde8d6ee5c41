#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "decide/scale/scale.h"
#include "model/names.h"
#include "model/snapshot.h"
#include "operator/snapshot/catalog_builder.h"
#include "operator/snapshot/eligibility_table.h"
#include "operator/snapshot/gpu_holders.h"
#include "operator/snapshot/replica_table.h"
#include "operator/snapshot/view_changes.h"
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
  /// target, or if the spec of the scaler has a fault.
  Mode mode = Mode::shadow;
  bool gpu_known = false;  ///< the GPU kind is stated or follows from nodes or the template; otherwise any is used

  /// Returns a key that is the same in every process for the same target of the same scaler.
  std::string key() const { return scaler_uid + "/" + target.kind + "/" + target.name; }
  friend bool operator==(const ServiceOrigin&, const ServiceOrigin&) = default;
};

/// Turns the cluster's objects into snapshots. Successive snapshots share the rows that did not change, and the delta
/// lists the rows that did. The builder usually makes only the rows that depend on objects or readings that have
/// changed since the last build. It follows changes of pods, nodes, KAI PodGroups, ResourceSlices, ResourceClaims,
/// queues, workloads, scalers and autoscalers in this way. A changed NodeClaim or NodePool makes it read all objects of
/// its kind again. `changes_between`, `adds_targets_last` and the functions called `can_follow` say which changes
/// make it read all objects again. Both ways give the same rows and ids.
///
/// A service stands for one target of an InferenceScaler, and its pods are the pods of that target. Other pods that
/// hold GPUs are gangs without a service, because they use room on their nodes. A pod of another scheduler holds its
/// room from its nomination on (`status.nominatedNodeName`). A target has no row among the services if it does not
/// exist, if its mode is Off, or if an older scaler has the same target. Nothing is decided about such a target. When
/// the scaler of a service is deleted, the service only keeps its position in the catalog.
class SnapshotBuilder {
 public:
  SnapshotBuilder();
  ~SnapshotBuilder();
  SnapshotBuilder(const SnapshotBuilder&) = delete;
  SnapshotBuilder& operator=(const SnapshotBuilder&) = delete;

  /// The first pod of a replica that serves or drains. Its engine is scraped.
  struct ServingPod {
    model::ServiceId service;
    const kube::Pod* pod = nullptr;  ///< valid as long as the view of the build
  };
  struct Output {
    model::Snapshot snapshot;
    model::Delta delta;  ///< changes since the last build
    std::shared_ptr<const std::vector<ServingPod>> serving = std::make_shared<const std::vector<ServingPod>>();
  };
  /// Gives the replicas with these first pods their ids, in this order. Call it before the first build.
  void expect(const std::vector<const kube::Pod*>& first_pods);
  Output build(const ClusterView& view, const Readings& readings, Instant at);
  /// Makes the next build read all objects, whatever has changed.
  void forget_last_pass();
  /// Returns the number of builds that read all objects.
  std::uint64_t complete_passes() const { return complete_passes_; }

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
  struct State;
  struct Pass;
  using Replica = ReplicaTable::Replica;
  using Target = ReplicaTable::Target;
  using ReplicaKeys = std::set<ReplicaTable::Key>;
  /// The services of a scaler by role.
  struct Roles {
    const InferenceScaler* scaler = nullptr;
    std::map<model::Role, std::vector<model::ServiceId>> services{};
  };
  struct ListedTarget {
    Target target;
    ServiceOrigin origin;
    decide::scale::Policy policy;
  };
  /// The targets of all scalers. If the selectors of two targets match a pod, the pod belongs to the first of them.
  struct TargetList {
    std::vector<ListedTarget> targets{};
    std::vector<Roles> roles{};
  };

  Output read_all_objects(const ClusterView& view, const Readings& readings, Instant at);
  Output publish(Pass& pass);
  void finish_eligibility(Pass& pass);
  void follow_catalog(model::Delta& delta);
  void list_serving_pods();
  void read_node(Pass& pass, kube::RowId at, const kube::Node& node);
  void read_node_without_gpus(Pass& pass, kube::RowId at, const kube::Node& node);
  model::Node& node_row(Pass& pass, model::NodeId id) const;
  void read_pools();
  void read_claims(Pass& pass);
  model::Claim::Phase claim_phase(const kube::NodeClaim& claim) const;
  void read_claim_group(const std::string& name, const kube::NodeClaim& claim, const kube::StringMap& labels,
                        model::Claim& row);
  void clamp_moments(Pass& pass);
  model::DomainId zone_of(const kube::StringMap& labels);
  model::OfferingId offering(const kube::StringMap& labels, model::GpuKindId gpu, MilliGpu gpus);

  // incremental_pass.cc
  std::optional<Output> follow(const ClusterView& view, const Readings& readings, Instant at);
  void add_described_nodes(const std::set<std::string>& described, ViewChanges& changes) const;
  void follow_mixed_gangs(ViewChanges& changes);
  void add_nodes(const std::vector<kube::RowId>& rows, ViewChanges& changes) const;
  void follow_nodes(Pass& pass, const ViewChanges& changes);
  void forget_node(Pass& pass, kube::RowId at, const kube::Node& node);
  void read_starting_nodes_again(Pass& pass);
  void touch_kinds(const std::map<model::PodClassId, model::GpuKindId>& before);
  void follow_groups(const std::vector<GroupChange>& changes);
  void follow_workloads(const std::vector<WorkloadChange>& changes);
  void follow_readings(Pass& pass) const;
  void set_pod(kube::RowId row, const kube::Pod* pod);
  void follow_anti_affinity();

  // target_list.cc
  TargetList list_targets();
  std::vector<model::ServiceId> set_origins(const TargetList& list);
  bool adds_targets_last(const TargetList& list) const;
  void follow_targets(Pass& pass, const TargetList& list, const std::set<kube::RowId>& changed_scalers);
  void empty_target(Pass& pass, std::uint32_t at);

  // service_rows.cc
  void link_services(const std::vector<Roles>& all);
  void join_variants(const std::vector<model::ServiceId>& variants);
  void settle_targets(Pass& pass);
  void settle_target(Pass& pass, std::uint32_t at, ReplicaKeys keys);
  void regroup(Target& target, Replica& replica, ReplicaTable::Key key);
  bool read_service(const Pass& pass, Target& target);
  bool find_gpu_kind(const Target& target, model::Workload& row);
  bool read_template(Target& target, model::Workload& row, bool gpu_stated);
  void release_classes(Target& target);

  // gang_rows.cc
  void set_gangs(Pass& pass, std::uint32_t at, const ReplicaKeys& keys);
  void retire(Pass& pass, Replica& replica);
  void set_gang(Pass& pass, Replica& replica, std::uint32_t at, Instant expected_ready_at);
  void add_pods(Pass& pass, const Replica& replica, model::Gang& gang, const std::vector<std::uint8_t>& sets);
  void read_placement_request(Replica& replica, model::Gang& gang, const std::vector<std::uint8_t>& sets,
                              model::PodRule of_gang);
  void number_gangs(Pass& pass, Target& target, const ReplicaKeys& keys);
  void number_all_gangs(Pass& pass, Target& target);
  void number_unnumbered(ReplicaNumbers& numbers, const std::vector<model::GangId>& gangs);
  model::Gang& gang_row(Pass& pass, model::GangId id) const;
  void settle_other_gangs(Pass& pass);
  std::optional<ReplicaTable::OtherGangKey> other_gang_key_of(kube::RowId row) const;
  model::GangId add_holder(Pass& pass, const OtherHolder& holder, model::NodeId node, model::GpuKindId gpu,
                           MilliGpu gpus);

  // other_holders.cc
  std::set<std::string> nodes_of_changed_holders(const Pass& pass, std::set<std::string> changed) const;
  MilliGpu gpus_left_on(const Pass& pass, const std::string& name, model::NodeId id) const;
  void read_other_holders(Pass& pass, const std::set<std::string>& nodes);

  CatalogBuilder catalog_;
  Identities<model::ServiceId> services_;
  Identities<model::NodeId> nodes_;
  Identities<model::ClaimId> claims_;
  Identities<model::ClaimGroupId> groups_;
  Identities<model::GangId> gangs_;
  Identities<model::PodId> pods_;
  EligibilityTable eligibility_;
  ClassIds queue_ids_;  ///< ids of queues by name
  std::vector<decide::scale::Policy> policies_;
  std::map<model::ServiceId, ServiceOrigin> origins_;
  std::map<model::GangId, std::uint32_t> ordinals_;  ///< numbers of replicas whose workload does not number them
  model::Snapshot last_;
  std::unique_ptr<State> state_;  ///< null: the next build reads all objects
  std::uint64_t complete_passes_ = 0;
};

}  // namespace capstan::op
