#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/quantity.h"
#include "fleet/free_gpus.h"
#include "fleet/free_nodes.h"
#include "model/ids.h"
#include "model/level.h"
#include "model/resources.h"

namespace capstan::fleet {

using model::DomainId;
using model::GangId;
using model::GpuKindId;
using model::NodeId;
using model::PodId;
using model::PoolId;
using model::QueueId;
using model::ServiceId;
using model::TopologyLevel;

/// The GPUs of a node and its other resources that limit pods.
struct NodeRoom {
  GpuKindId gpu;      ///< as in model::Node; the nodes without GPUs form a kind of their own
  MilliGpu gpus;      ///< allocatable GPUs
  FreeGpus free;      ///< GPUs that no pod holds; a terminating pod still holds its GPUs
  bool open = false;  ///< true: accepts new pods
  model::NodeClassId node_class{};
  std::optional<model::Resources> available{};  ///< as in model::Node, less the amounts taken since
  model::DomainPath domains;
  friend bool operator==(const NodeRoom&, const NodeRoom&) = default;
};

/// Returns the amounts by which `FreeNodes` groups a node.
inline NodeSpace space_of(const NodeRoom& room) {
  const auto round = [](const model::Resources& amounts) { return rounded_down(amounts); };
  return {.free = room.free, .gpus = room.gpus, .others_rounded_down = room.available.transform(round)};
}

/// A domain, restricted to its nodes of one GPU kind.
struct DomainKey {
  model::Level level = TopologyLevel::zone;
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
/// enough free GPUs is cheap. A decision tries alternatives on a `Trial`.
class Rooms {
 public:
  const NodeRoom* find(NodeId id) const;
  const std::map<DomainKey, DomainRoom>& domains() const { return domains_; }
  const DomainRoom* find(const DomainKey& key) const;

  /// Returns the open nodes of a GPU kind. Null if there are none.
  const FreeNodes* nodes_of(GpuKindId gpu) const;
  /// Returns the domains of a level (not `node`) with open nodes of a GPU kind, those with the fewest free GPUs first;
  /// ties by id. Null if there are none.
  const std::set<std::pair<MilliGpu, DomainId>>* domains_by_free(model::Level level, GpuKindId gpu) const;

  /// Adds or replaces a node.
  void set(NodeId id, const NodeRoom& room);
  void erase(NodeId id);  ///< does nothing if there is no such node
  /// Takes GPUs, which must be free on the node, and other resources.
  void take(NodeId id, MilliGpu gpus, const model::Resources& others);

  friend bool operator==(const Rooms&, const Rooms&) = default;

 private:
  void count(NodeId id, const NodeRoom& room, int sign);

  /// Number of consecutive node ids in one page. A page without nodes is empty, so that ids of nodes that are gone cost
  /// no memory.
  static constexpr std::size_t kPage = 64;
  using Page = std::vector<std::optional<NodeRoom>>;
  std::vector<Page> pages_;  ///< by node id / kPage; the last page is not empty
  std::map<DomainKey, DomainRoom> domains_;
  std::map<GpuKindId, FreeNodes> by_gpu_;
  std::map<std::pair<model::Level, GpuKindId>, std::set<std::pair<MilliGpu, DomainId>>> domains_by_free_;
};

}  // namespace capstan::fleet
