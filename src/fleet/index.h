#pragma once

#include <cstdint>
#include <map>
#include <set>
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
  /// A pod with the values that the index counted, so that they can be subtracted later without the old snapshot.
  struct PodRow {
    NodeId node;
    MilliGpu gpus;
    std::vector<std::uint16_t> devices{};  ///< as in model::Pod
    QueueId queue;                         ///< queue charged for it; invalid while the pod holds no GPUs
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
  /// Cache of placement; it does not count when two indexes are compared.
  AssumedRooms assumed;

  friend bool operator==(const Index&, const Index&) = default;
};

Index build(const model::Snapshot& snapshot);
/// Updates an index of the snapshot before `delta` to `next`, the snapshot after it.
void apply(Index& index, const model::Snapshot& next, const model::Delta& delta);

}  // namespace capstan::fleet
