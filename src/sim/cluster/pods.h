#pragma once

#include <cstdint>
#include <map>

#include "sim/cluster/component.h"
#include "sim/cluster/node_provider.h"

namespace capstan::sim {

/// The pods of all gangs. Creates, binds and removes pods, and adds the GPU time of bound pods to the account.
class Pods : Component {
 public:
  Pods(Basics& basics, NodeProvider& nodes) : Component(basics), nodes_(nodes) {}

  /// Creates a pending pod.
  model::PodId create(model::GangId gang, MilliGpu gpus, model::QueueId queue);
  /// Replaces a pod of a gang that has not begun to start. The other pods of the gang stay bound.
  void replace(model::PodId id);
  /// Binds a pod to a node with room for it.
  void bind(model::PodId id, model::NodeId node);
  /// Removes a pod and frees its GPUs.
  void erase(model::PodId id);

  /// Adds the time of a gang's bound pods up to now to the account. Their later time counts as `state`.
  void set_states(model::GangId id, GpuState state);
  /// Sets the phase of a gang and of its pods.
  void set_phases(model::GangId id, model::Gang::Phase phase, model::Pod::Phase pod_phase);
  /// Ends the time in which the gang served. The caller accounts that time with add_served().
  void end_serving(model::GangId id);

  /// Adds the time in which a gang served to the account.
  /// @param busy  the part of `served` in which its engine computed
  void add_served(GpuAccount& account, model::GangId id, Duration served, Duration busy) const;
  /// Adds the time of a gang's bound pods that is not in the shared account yet. For a gang that serves, add_served()
  /// does this.
  void add_unaccounted(GpuAccount& account, model::GangId id, Instant end) const;
  void check_invariants() const;

 private:
  struct Record {
    GpuState state = GpuState::held;
    Instant since;  ///< for a bound pod: time up to which the account has its GPU time
  };

  void account_until_now(model::PodId id);
  void add_bound(GpuAccount& account, model::PodId id, Instant end) const;

  NodeProvider& nodes_;
  std::map<model::PodId, Record> pods_;
  std::uint32_t next_pod_ = 0;
};

}  // namespace capstan::sim
