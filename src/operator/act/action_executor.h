#pragma once

#include <vector>

#include "model/plan.h"
#include "model/snapshot.h"
#include "operator/snapshot/snapshot_builder.h"
#include "operator/view/cluster_view.h"
#include "ports/world.h"

namespace capstan::op {

/// Carries out the actions of layers in mode Active, by changing objects of the cluster.
class ActionExecutor {
 public:
  virtual ~ActionExecutor() = default;
  /// Starts a new leadership. Unfinished actions of an earlier one are dropped, and tokens start again from zero.
  virtual void begin() {}
  /// Sets the current state of the cluster, before each decision. `objects` stays valid until the next `begin`.
  virtual void set_view(const ClusterView&, const SnapshotBuilder& /*objects*/, const Readings&) {}
  /// Starts an action. A refusal arrives as an outcome.
  /// @param seen  snapshot of the decision; the `SnapshotBuilder` that made it maps its ids to objects
  virtual void submit(model::ActionToken token, const model::Action& action, const model::Snapshot& seen) = 0;
  /// Returns the outcomes that have arrived since the last call, each token once.
  virtual std::vector<ports::Outcome> outcomes() = 0;
  /// Does the work that is due. Call it at `next_deadline` and after each answer of the network.
  virtual void run_once() {}
  virtual Instant next_deadline() const { return Instant::never(); }
};

}  // namespace capstan::op
