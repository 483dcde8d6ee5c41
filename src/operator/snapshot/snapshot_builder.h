#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "decide/scale/scale.h"
#include "model/names.h"
#include "model/snapshot.h"
#include "operator/snapshot/catalog_builder.h"
#include "operator/snapshot/eligibility_ids.h"
#include "operator/view/cluster_view.h"
#include "operator/view/names.h"
#include "operator/view/pod_groups.h"

namespace capstan::op {

/// What a service of a snapshot stands for: one target of one InferenceScaler.
struct ServiceOrigin {
  std::string ns;
  std::string scaler;      ///< its name
  std::string scaler_uid;  ///< an object of the same name that is made anew is another one
  kube::TargetRef target;
  std::size_t position = 0;  ///< in `targets_of`
  Mode mode = Mode::shadow;  ///< how far Capstan may go: the smaller of the fleet's and the scaler's, no Active beside
                             ///< a rival
  bool gpu_known = false;    ///< stated, or told by nodes; else one kind among several stands in

  /// The same for the same target of the same scaler in another process.
  std::string key() const { return scaler_uid + "/" + target.kind + "/" + target.name; }
  friend bool operator==(const ServiceOrigin&, const ServiceOrigin&) = default;
};

/// Turns the cluster's objects into snapshots. It looks at everything each time and keeps the rows that did not change,
/// so that successive snapshots share structure and the delta names only what did.
///
/// One service stands for one target of an InferenceScaler. Its pods are those of its target; pods of others that hold
/// GPUs are gangs without a service, because the room they take is taken. A target that does not exist, whose mode is
/// Off, or that an older scaler has already, has no row among the services: nothing is decided about it. Of a service
/// whose scaler is gone only its place in the catalog is kept.
class SnapshotBuilder {
 public:
  /// The pod that speaks for a replica which serves, or drains.
  struct Serving {
    model::ServiceId service;
    const kube::Pod* pod = nullptr;  ///< in the view
  };
  struct Seen {
    model::Snapshot snapshot;
    model::Delta delta;  ///< since the last build
    std::vector<Serving> serving;
  };
  /// Has the replicas that these pods speak for in this order, whichever is seen first. Before the first build.
  void expect(const std::vector<const kube::Pod*>& speakers);
  Seen build(const ClusterView& view, const Readings& readings, Instant at);

  // Of the last build.
  model::Names names() const { return {nodes_.shown(), claims_.shown(), gangs_.shown(), pods_.shown()}; }
  const std::vector<decide::scale::Policy>& policies() const { return policies_; }  ///< by service
  const std::map<model::ServiceId, ServiceOrigin>& services() const { return origins_; }
  const ObjectKey* node(model::NodeId id) const { return nodes_.find(id); }
  const ObjectKey* group(model::ClaimGroupId id) const { return groups_.find(id); }
  const ObjectKey* claim(model::ClaimId id) const { return claims_.find(id); }
  const ObjectKey* pod(model::PodId id) const { return pods_.find(id); }
  const ObjectKey* gang(model::GangId id) const { return gangs_.find(id); }  ///< with the uid of the pod that speaks

 private:
  struct Look;

  void read_nodes(Look& look);
  void read_pools(Look& look);
  void read_claims(Look& look);
  void read_claim_group(const std::string& name, const kube::NodeClaim& claim, const kube::StringMap& labels,
                        model::Claim& row);
  void read_services(Look& look);
  void join_variants(const Look& look, const std::vector<model::ServiceId>& variants);
  model::ServiceId read_target(Look& look, const InferenceScaler& scaler, const TargetOf& target, std::size_t position);
  bool tell_gpu(const Look& look, const kube::Workload& workload, const std::vector<PodGroup>& replicas,
                model::Variant& variant);
  bool read_template(Look& look, const kube::Workload& workload, model::Variant& variant, bool gpu_stated);
  void read_other_pods(Look& look);
  void add_gang(Look& look, const PodGroup& group, model::ServiceId service, Instant expected_ready_at);
  void read_wish(Look& look, const PodGroup& group, model::Gang& gang);
  void number_gangs(Look& look);
  static void clamp_moments(Look& look, Instant at);
  model::DomainId zone_of(const kube::StringMap& labels);
  model::OfferingId offering(const Look& look, const kube::StringMap& labels, const kube::Resources& resources);

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
  std::map<model::GangId, std::uint32_t> ordinals_;  ///< of replicas whose workload does not number them
  model::Snapshot last_;
};

}  // namespace capstan::op
