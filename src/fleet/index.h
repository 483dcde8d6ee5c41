#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "fleet/assumed_rooms.h"
#include "fleet/rooms.h"
#include "model/ids.h"
#include "model/snapshot.h"

namespace capstan::fleet {

/// Data derived from a snapshot, so that the cost of a decision depends on what changed and not on the size of the
/// cluster. It is never saved because it is a function of the snapshot: `apply(build(S), S + D, D) == build(S + D)`.
struct Index {
  /// A pending gang. Gangs are served in this order: a higher priority first, then the older one, then the lower id.
  struct PendingGang {
    std::int32_t priority = 0;
    Instant created_at;
    GangId id;
    friend bool operator==(const PendingGang&, const PendingGang&) = default;
    friend bool operator<(const PendingGang& a, const PendingGang& b) {
      return std::tie(b.priority, a.created_at, a.id) < std::tie(a.priority, b.created_at, b.id);
    }
  };
  /// A pod with the values that the index counted, so that they can be subtracted later without the old snapshot.
  struct PodRow {
    NodeId node;
    MilliGpu gpus;
    std::vector<std::uint16_t> devices{};  ///< as in model::Pod
    QueueId queue;                         ///< queue charged for it; invalid while the pod has no node and does not run
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
    std::int32_t priority = 0;
    Instant created_at;
    bool pending = false;
    friend bool operator==(const GangRow&, const GangRow&) = default;
  };

  Rooms rooms;
  std::map<NodeId, NodeRow> nodes;
  std::map<PoolId, PoolSum> pools;  ///< sums of the pools that have nodes
  std::map<PodId, PodRow> pods;
  std::map<GangId, GangRow> gangs;
  std::map<NodeId, std::set<PodId>> pods_by_node;          ///< pods on the node, those without GPUs included
  std::map<QueueId, MilliGpu> gpus_by_queue;               ///< GPUs of the queue's own pods; only queues that hold any
  std::map<ServiceId, std::set<GangId>> gangs_by_service;  ///< gangs in any phase
  std::set<PendingGang> pending_gangs;                     ///< pending gangs in the order in which they are served
  std::set<std::pair<Instant, PodId>> unbound_pods;        ///< pods in phase pending without a node, oldest first
  /// Cache of placement, which a comparison of two indexes ignores.
  AssumedRooms assumed;

  friend bool operator==(const Index&, const Index&) = default;
};

Index build(const model::Snapshot& snapshot);
/// Updates an index of the snapshot before `delta`, so that it becomes the index of `next`, the snapshot after `delta`.
void apply(Index& index, const model::Snapshot& next, const model::Delta& delta);

}  // namespace capstan::fleet
