#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "operator/snapshot/eligibility_look.h"
#include "operator/snapshot/gpu_holders.h"
#include "operator/snapshot/pod_index.h"
#include "operator/snapshot/queue_tree.h"
#include "operator/snapshot/snapshot_builder.h"
#include "operator/snapshot/waiting_gangs.h"
#include "operator/view/rivals.h"

namespace capstan::op {

inline ObjectKey key_of(std::string_view kind, const kube::Meta& meta) {
  return {std::string(kind), meta.ns, meta.name, meta.uid};
}

/// The state of a build that reads all objects.
struct SnapshotBuilder::FullBuild {
  FullBuild(const ClusterView& cluster, const Readings& heard, EligibilityIds& ids)
      : view(cluster),
        readings(heard),
        fleet(fleet_policy(cluster.fleet)),
        targets(cluster),
        rivals(cluster),
        queues(cluster),
        pods_at_hand(cluster.pods),
        eligibility(ids),
        holders(cluster),
        kai_constraints(op::kai_constraints(cluster.kai_groups)) {}

  const ClusterView& view;
  const Readings& readings;
  const FleetPolicy& fleet;
  Targets targets;
  Rivals rivals;
  QueueTree queues;
  std::set<const kube::Workload*> scaled;  // workloads that already belong to a scaler
  std::map<std::string, model::NodeId, std::less<>> node_by_name;
  PodIndex pods_at_hand;
  EligibilityLook eligibility;
  GpuHolders holders;
  KaiConstraints kai_constraints;
  std::set<const kube::Pod*> taken;       // pods that already belong to a gang
  std::vector<model::GangId> unnumbered;  // in the order of their pods
  KeptReplicas replicas;

  std::map<model::ServiceId, model::ServiceState> services;
  std::map<model::NodeId, model::Node> nodes;
  std::map<model::ClaimId, model::Claim> claims;
  std::map<model::GangId, model::Gang> gangs;
  std::map<model::GangId, model::ReplicaSignals> signals;
  std::map<model::PodId, model::Pod> pods;
};

}  // namespace capstan::op
