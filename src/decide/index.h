#pragma once

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "decide/free_nodes.h"
#include "model/ids.h"
#include "model/snapshot.h"
#include "model/topology.h"

namespace capstan::decide {

using model::DomainId;
using model::GangId;
using model::GpuKindId;
using model::NodeId;
using model::PodId;
using model::PoolId;
using model::QueueId;
using model::ServiceId;
using model::TopologyLevel;

/// The GPUs of a node and what else limits the pods on it.
struct NodeRoom {
  GpuKindId gpu;
  MilliGpu gpus;      ///< allocatable GPUs
  MilliGpu free;      ///< allocatable GPUs minus those of its pods, terminating pods included; never below 0
  bool open = false;  ///< true: accepts new pods
  model::NodeClassId node_class{};
  std::optional<model::Resources> available{};  ///< as in model::Node, less what was taken since
  model::DomainPath domains;
  friend bool operator==(const NodeRoom&, const NodeRoom&) = default;
};

/// A domain, restricted to its nodes of one GPU kind.
struct DomainKey {
  TopologyLevel level = TopologyLevel::zone;
  DomainId domain;  ///< invalid only at level `cluster`, where it means all nodes without a cluster
  GpuKindId gpu;
  friend auto operator<=>(const DomainKey&, const DomainKey&) = default;
};

struct DomainRoom {
  MilliGpu total;   ///< allocatable GPUs of its open nodes
  MilliGpu free;    ///< free GPUs of its open nodes
  FreeNodes nodes;  ///< open nodes
  friend bool operator==(const DomainRoom&, const DomainRoom&) = default;
};

/// Free GPUs by node and by domain. Nodes and domains are sorted by their number of free GPUs, so that a search for
/// enough free GPUs is cheap. A decision tries alternatives on an Overlay.
class Rooms {
 public:
  const NodeRoom* find(NodeId id) const;
  const std::map<DomainKey, DomainRoom>& domains() const { return domains_; }
  const DomainRoom* find(const DomainKey& key) const;

  /// Returns the open nodes of a GPU kind. Null if there are none.
  const FreeNodes* nodes_of(GpuKindId gpu) const;
  /// Returns the domains of a level (not `node`) with open nodes of a GPU kind, those with the fewest free GPUs first;
  /// ties by id. Null if there are none.
  const std::set<std::pair<MilliGpu, DomainId>>* domains_by_free(TopologyLevel level, GpuKindId gpu) const;

  /// Adds or replaces a node.
  void set(NodeId id, const NodeRoom& room);
  void erase(NodeId id);  ///< does nothing if there is no such node
  /// Takes free GPUs of a node, which must have them, and other resources.
  void take(NodeId id, MilliGpu gpus, const model::Resources& others);

  friend bool operator==(const Rooms&, const Rooms&) = default;

 private:
  void count(NodeId id, const NodeRoom& room, int sign);

  std::vector<std::optional<NodeRoom>> nodes_;  ///< by id; the last one is present
  std::map<DomainKey, DomainRoom> domains_;
  std::map<GpuKindId, FreeNodes> by_gpu_;
  std::map<std::pair<TopologyLevel, GpuKindId>, std::set<std::pair<MilliGpu, DomainId>>> domains_by_free_;
};

/// Data derived from a snapshot so that the cost of a decision depends on what changed, not on what exists. It is never
/// saved because it is a function of the snapshot: `apply(build(S), S + D, D) == build(S + D)`.
struct Index {
  /// A pod as the index counted it, so that a change can be undone without the old snapshot.
  struct PodRow {
    NodeId node;
    MilliGpu gpus;
    QueueId queue;  ///< queue charged for it; invalid while the pod holds no GPUs
    Instant created_at;
    bool unbound = false;
    friend bool operator==(const PodRow&, const PodRow&) = default;
  };
  struct NodeRow {
    PoolId pool;  ///< invalid for a node that no pool launched
    GpuCount gpus = 0;
    bool stays = false;  ///< true until the node is terminating
    friend bool operator==(const NodeRow&, const NodeRow&) = default;
  };
  /// Totals over the nodes of a pool.
  struct PoolSum {
    GpuCount gpus = 0;       ///< GPUs of all its nodes, which count against the pool's limit
    std::int64_t nodes = 0;  ///< nodes that are not terminating
    friend bool operator==(const PoolSum&, const PoolSum&) = default;
  };
  struct GangRow {
    ServiceId service;
    Instant created_at;
    bool pending = false;
    friend bool operator==(const GangRow&, const GangRow&) = default;
  };

  Rooms rooms;
  std::map<NodeId, NodeRow> nodes;
  std::map<PoolId, PoolSum> pools;  ///< sums of the pools that have nodes
  std::map<PodId, PodRow> pods;
  std::map<GangId, GangRow> gangs;
  std::map<NodeId, std::set<PodId>> pods_by_node;          ///< pods that hold GPUs on the node
  std::map<QueueId, MilliGpu> gpus_by_queue;               ///< GPUs of the queue's own pods; only queues that hold any
  std::map<ServiceId, std::set<GangId>> gangs_by_service;  ///< gangs in any phase
  std::set<std::pair<Instant, GangId>> pending_gangs;      ///< pending gangs, oldest first
  std::set<std::pair<Instant, PodId>> unbound_pods;        ///< pods in phase pending without a node, oldest first

  friend bool operator==(const Index&, const Index&) = default;
};

Index build(const model::Snapshot& snapshot);
/// Updates an index of the snapshot before `delta` to `next`, the snapshot after it.
void apply(Index& index, const model::Snapshot& next, const model::Delta& delta);

}  // namespace capstan::decide
