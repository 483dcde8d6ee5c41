#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "operator/snapshot/gpu_holders.h"
#include "operator/snapshot/mixed_gangs.h"
#include "operator/snapshot/node_sizes.h"
#include "operator/snapshot/queue_tree.h"
#include "operator/snapshot/replica_table.h"
#include "operator/snapshot/snapshot_builder.h"
#include "operator/snapshot/waiting_gangs.h"

namespace capstan::op {

inline ObjectKey key_of(std::string_view kind, const kube::Meta& meta) {
  return {std::string(kind), meta.ns, meta.name, meta.uid};
}

/// The state that a pass keeps for the next one, which can then follow the changes of objects.
struct SnapshotBuilder::State {
  /// @param queue_ids  ids by the names of queues
  State(const ClusterView& cluster, const Readings& heard, ClassIds& queue_ids)
      : view(cluster), readings(heard), queues(cluster, queue_ids), holders(cluster) {
    set_view(cluster);
    cluster.kai_groups.for_each([&](kube::RowId, const kube::KaiPodGroup& group) { add_group(group); });
  }

  void set_view(const ClusterView& cluster) {
    view = cluster;
    fleet = &fleet_policy(view.fleet);
  }

  void add_group(const kube::KaiPodGroup& group) {
    const std::string key = group.meta.key();
    gang_sizes[key] = group.min_member;
    if (group.topology != kube::TopologyConstraint{}) kai_constraints[key] = group.topology;
  }
  void remove_group(const kube::KaiPodGroup& group) {
    const std::string key = group.meta.key();
    gang_sizes.erase(key);
    kai_constraints.erase(key);
  }

  struct KnownNode {
    kube::RowId row;
    model::NodeId id{};      ///< none: the snapshot has no row for the node
    model::GpuKindId gpu{};  ///< none: the node has no GPUs
  };
  /// Returns the node with a name, or null if the snapshot has no row for it.
  const KnownNode* find_node(std::string_view name) const {
    const auto found = nodes.find(name);
    return found == nodes.end() || !found->second.id.valid() ? nullptr : &found->second;
  }
  /// Returns the node with a name, or null if the snapshot has no row for it or if the node has no GPUs.
  const KnownNode* find_gpu_node(std::string_view name) const {
    const KnownNode* node = find_node(name);
    return node == nullptr || !node->gpu.valid() ? nullptr : node;
  }

  ClusterView view;
  const FleetPolicy* fleet = nullptr;  ///< FleetPolicy of `view`
  Readings readings;
  QueueTree queues;
  GpuHolders holders;
  KaiConstraints kai_constraints;
  GangSizes gang_sizes;
  MixedGangs mixed_gangs;
  bool shows_nodes_without_gpus = false;                ///< true: the nodes without GPUs that Capstan may use have rows
  std::map<std::string, KnownNode, std::less<>> nodes;  ///< all nodes, by name
  std::map<model::GpuKindId, std::size_t> node_gpus;    ///< number of the nodes with GPUs by their kind
  NodeSizes node_sizes;                                 ///< sizes of the nodes with GPUs
  std::size_t extended_of_pools = 0;                    ///< number of extended resources when the pools were read
  std::map<std::string, std::size_t> zones;             ///< number of all nodes by the zone that they state
  std::map<std::string, std::vector<model::GangId>, std::less<>>
      holder_rows;                ///< gangs that stand for other holders of GPUs, by node
  ReplicaNumbers holder_numbers;  ///< numbers of these gangs
  ReplicaTable replicas;
  std::set<kube::RowId> future_pods;  ///< pods whose creation time, by the API server's clock, is after the pass
  bool has_future_objects =
      false;  ///< an object other than a pod has a time after the pass, so the next pass reads all
  std::shared_ptr<const std::vector<ServingPod>> serving;
};

/// The rows that a pass has made.
struct SnapshotBuilder::Pass {
  Instant at;
  bool reads_all = false;
  bool touches_rows = false;  ///< true: rows depend on objects that have changed since the last pass
  std::map<model::ServiceId, model::ServiceState> services{};
  std::set<model::ServiceId> old_services{};      ///< services whose row is gone unless the pass has made it again
  std::vector<model::ServiceId> gone_services{};  ///< services that no scaler has any more
  std::map<model::NodeId, model::Node> nodes{};
  std::map<model::ClaimId, model::Claim> claims{};
  std::map<model::GangId, model::Gang> gangs{};
  std::map<model::GangId, model::ReplicaSignals> signals{};  ///< signals, also of replicas that are silent now
  std::map<model::PodId, model::Pod> pods{};
  bool reads_claims = false;            ///< true: the pass has read all NodeClaims
  std::set<model::NodeId> old_nodes{};  ///< nodes that were touched; gone unless the pass has made them again
  // Rows of replicas that were touched. They are gone unless the pass has made them again.
  std::set<model::GangId> old_gangs{};
  std::set<model::PodId> old_pods{};
  std::set<model::GangId> old_signals{};  ///< signals that are gone unless the pass has made them again
};

}  // namespace capstan::op
