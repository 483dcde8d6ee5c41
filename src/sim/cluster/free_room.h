#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "model/snapshot.h"
#include "sim/cluster/node_provider.h"
#include "sim/cluster/queue_room.h"

namespace capstan::sim {

/// A gang that waits for nodes, or for more of them.
struct WaitingGang {
  model::GangId id;
  model::GangSpec spec;                   ///< `spec.pods.count` counts the pods without a node
  std::optional<std::uint32_t> domain{};  ///< `domain_key` of its pods with a node; none: no pod has one
};

/// The free GPUs, CPU and memory of all nodes that take pods, and the GPUs that the queues hold, at one moment. A
/// search may take room and give it back; the cluster does not change.
class FreeRoom {
 public:
  /// The nodes of one domain that have a kind of GPU.
  using Domain = std::vector<model::NodeId>;

  /// @param ending  nodes that take no pods any more
  FreeRoom(const model::Snapshot& rows, const NodeProvider& nodes, const std::set<model::NodeId>& ending = {});

  /// Returns the domains of a level with nodes that have the kind of GPU, in a fixed order.
  std::vector<Domain> domains(model::GpuKindId gpu, model::Level level) const;

  /// Returns the domains in which the gang may be placed: the domain of its bound pods, or if it has none, all domains
  /// of its level.
  std::vector<Domain> domains(const WaitingGang& gang) const;

  /// Returns how many pods of the gang the domain and the gang's queues can hold.
  std::int64_t most_pods(const WaitingGang& gang, const Domain& domain) const;
  bool fits(const WaitingGang& gang, const Domain& domain) const {
    return most_pods(gang, domain) >= gang.spec.pods.count;
  }

  /// Takes the room of a gang that fits into the domain. Returns the node of each pod.
  std::vector<model::NodeId> take(const WaitingGang& gang, const Domain& domain);
  /// Gives back the room of a pod with a node, as if it had ended.
  void give_back(const model::Pod& pod);
  /// Takes the room of the pod again after give_back().
  void take_again(const model::Pod& pod);

 private:
  /// The amounts that a node has left.
  struct Left {
    MilliGpu gpus;
    std::optional<model::Resources> others{};
  };
  std::int64_t most_pods(const model::PodSet& pods, model::NodeId node) const;
  const model::Resources& requests_of(const model::Pod& pod) const;

  const model::Snapshot& rows_;
  std::map<model::NodeId, Left> free_;  ///< by node that takes pods
  QueueRoom queues_;
};

}  // namespace capstan::sim
