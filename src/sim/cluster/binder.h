#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "sim/cluster/component.h"
#include "sim/cluster/gangs.h"
#include "sim/cluster/jobs.h"
#include "sim/cluster/node_provider.h"
#include "sim/cluster/pods.h"
#include "sim/cluster/queue_room.h"

namespace capstan::sim {

/// Binds the pods of gangs to nodes, all pods of a request or none, and refuses requests that do not fit.
class Binder : Component {
 public:
  Binder(Basics& basics, const NodeProvider& nodes, Pods& pods, Gangs& gangs, Jobs& jobs)
      : Component(basics), nodes_(nodes), pods_(pods), gangs_(gangs), jobs_(jobs) {}

  std::optional<model::Reason> perform(const model::BindPods& what);
  /// Binds all pods of a new gang inside the first domain of its level in which they fit. Returns false if there is
  /// none, or if a queue would hold more GPUs than its limit.
  /// @param queues  room of the queues, from which the gang takes its GPUs
  bool place_whole(model::GangId id, QueueRoom& queues);

 private:
  bool is_well_formed(const model::BindPods& what) const;
  std::set<std::uint32_t> domains_after(const model::BindPods& what) const;

  const NodeProvider& nodes_;
  Pods& pods_;
  Gangs& gangs_;
  Jobs& jobs_;
};

}  // namespace capstan::sim
