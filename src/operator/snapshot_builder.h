#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "decide/scale/scale.h"
#include "model/names.h"
#include "model/snapshot.h"
#include "operator/catalog_builder.h"
#include "operator/cluster_view.h"
#include "operator/names.h"
#include "operator/pod_groups.h"

namespace capstan::op {

/// Turns the cluster's objects into snapshots. It looks at everything each time and keeps the rows that did not change,
/// so that successive snapshots share structure and the delta names only what did.
///
/// One service stands for one InferenceScaler. Its pods are those of its targets; pods of others that hold GPUs are
/// gangs without a service, because the room they take is taken. A scaler whose first target does not exist, or whose
/// mode is Off, has no row among the services: nothing is decided about it.
class SnapshotBuilder {
 public:
  struct Seen {
    model::Snapshot snapshot;
    model::Delta delta;  ///< since the last build
  };
  Seen build(const ClusterView& view, const Readings& readings, Instant at);

  /// Of the last build.
  model::Names names() const { return {nodes_.shown(), claims_.shown(), gangs_.shown(), pods_.shown()}; }
  const std::vector<decide::scale::Policy>& policies() const { return policies_; }  ///< by service
  const ObjectKey* scaler(model::ServiceId id) const { return services_.find(id); }

 private:
  struct Look;

  void read_nodes(Look& look);
  void read_claims(Look& look);
  void read_services(Look& look);
  void read_other_pods(Look& look);
  void add_gang(Look& look, const PodGroup& group, model::ServiceId service, model::VariantId variant);
  void number_gangs(Look& look);

  CatalogBuilder catalog_;
  Identities<model::ServiceId> services_;
  Identities<model::NodeId> nodes_;
  Identities<model::ClaimId> claims_;
  Identities<model::GangId> gangs_;
  Identities<model::PodId> pods_;
  std::vector<decide::scale::Policy> policies_;
  std::map<model::GangId, std::uint32_t> ordinals_;  ///< of replicas whose workload does not number them
  model::Snapshot last_;
};

}  // namespace capstan::op
