#pragma once

#include <compare>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
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

/// How much room a node has.
struct NodeRoom {
  GpuKindId gpu;
  MilliGpu gpus;      ///< allocatable
  MilliGpu free;      ///< allocatable less what pods on it hold, terminating ones included; never below 0
  bool open = false;  ///< takes new pods
  model::DomainPath domains;
  friend bool operator==(const NodeRoom&, const NodeRoom&) = default;
};

/// A domain as seen by one GPU kind: a node of another kind is no room.
struct DomainKey {
  TopologyLevel level = TopologyLevel::zone;
  DomainId domain;  ///< none only at level `cluster`, where it means all nodes that name no cluster
  GpuKindId gpu;
  friend auto operator<=>(const DomainKey&, const DomainKey&) = default;
};

struct DomainRoom {
  MilliGpu total;          ///< allocatable of its open nodes
  MilliGpu free;           ///< free of its open nodes
  std::set<NodeId> nodes;  ///< open nodes
  friend bool operator==(const DomainRoom&, const DomainRoom&) = default;
};

/// Free room by node, by domain and in order of size: what makes "does it fit, and where best" cheap.
/// A decision tries things out on an Overlay of it.
class Rooms {
 public:
  const std::map<NodeId, NodeRoom>& nodes() const { return nodes_; }
  const NodeRoom* find(NodeId id) const;
  const std::map<DomainKey, DomainRoom>& domains() const { return domains_; }
  const DomainRoom* find(const DomainKey& key) const;

  /// Open nodes of a GPU kind, fullest first; ties by id. Null where there are none.
  const std::set<std::pair<MilliGpu, NodeId>>* nodes_by_free(GpuKindId gpu) const;
  /// Domains of a level (not `node`) with open nodes of a GPU kind, fullest first; ties by id. Null where there are
  /// none.
  const std::set<std::pair<MilliGpu, DomainId>>* domains_by_free(TopologyLevel level, GpuKindId gpu) const;

  /// Adds a node, or puts this in the place of what was known of it.
  void set(NodeId id, const NodeRoom& room);
  void erase(NodeId id);  ///< no node of that id is no error
  /// Takes room on a node that has it; a negative amount gives it back.
  void take(NodeId id, MilliGpu gpus);

  friend bool operator==(const Rooms&, const Rooms&) = default;

 private:
  void count(NodeId id, const NodeRoom& room, int sign);

  std::map<NodeId, NodeRoom> nodes_;
  std::map<DomainKey, DomainRoom> domains_;
  std::map<GpuKindId, std::set<std::pair<MilliGpu, NodeId>>> by_free_;
  std::map<std::pair<TopologyLevel, GpuKindId>, std::set<std::pair<MilliGpu, DomainId>>> domains_by_free_;
};

/// What is derived from a snapshot so that decisions cost what changed, not what exists. It is never saved: it is a
/// function of the snapshot, `apply(build(S), S + D, D) == build(S + D)`.
struct Index {
  /// What the index remembers of a pod, so that a change can be taken back without the old snapshot.
  struct PodRow {
    NodeId node;
    MilliGpu gpus;
    QueueId queue;  ///< that it takes from; none while it holds nothing
    Instant created_at;
    bool unbound = false;
    friend bool operator==(const PodRow&, const PodRow&) = default;
  };
  struct NodeRow {
    PoolId pool;  ///< none for a node that no pool launched
    GpuCount gpus = 0;
    bool stays = false;  ///< it has not been told to go
    friend bool operator==(const NodeRow&, const NodeRow&) = default;
  };
  /// The nodes of a pool together.
  struct PoolSum {
    GpuCount gpus = 0;       ///< of all of them: what counts against the pool's limit
    std::int64_t nodes = 0;  ///< that are not on their way out
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
  std::map<PoolId, PoolSum> pools;  ///< those that have nodes
  std::map<PodId, PodRow> pods;
  std::map<GangId, GangRow> gangs;
  std::map<NodeId, std::set<PodId>> pods_by_node;          ///< everything that holds GPUs there
  std::map<QueueId, MilliGpu> gpus_by_queue;               ///< what its own pods hold; no queue that holds nothing
  std::map<ServiceId, std::set<GangId>> gangs_by_service;  ///< every phase
  std::set<std::pair<Instant, GangId>> pending_gangs;      ///< oldest first
  std::set<std::pair<Instant, PodId>> unbound_pods;        ///< pods in phase pending without a node, oldest first

  friend bool operator==(const Index&, const Index&) = default;
};

Index build(const model::Snapshot& snapshot);
/// Brings an index of the snapshot before `delta` to the one after it, `next`.
void apply(Index& index, const model::Snapshot& next, const model::Delta& delta);

}  // namespace capstan::decide
