#pragma once

#include <vector>

#include "model/plan.h"
#include "model/snapshot.h"
#include "operator/snapshot/snapshot_builder.h"
#include "operator/view/cluster_view.h"
#include "ports/world.h"

namespace capstan::op {

/// Carries actions out at the cluster's objects, where a mode is Active.
class ActionExecutor {
 public:
  virtual ~ActionExecutor() = default;
  /// A new leadership: what an earlier one had on its way is nobody's, and tokens begin anew.
  virtual void begin() {}
  /// What is there now; before each decision. `objects` lasts until the next `begin`.
  virtual void look(const ClusterView&, const SnapshotBuilder& /*objects*/, const Readings&) {}
  /// Begins; never refuses by itself.
  /// @param seen  what the action was decided from; ids are those of the `SnapshotBuilder` that made it
  virtual void submit(model::ActionToken token, const model::Action& action, const model::Snapshot& seen) = 0;
  /// Those that have arrived since the last call, each token once.
  virtual std::vector<ports::Outcome> outcomes() = 0;
  /// Does what is due. Call it when `next_deadline` has come, and after anything has arrived.
  virtual void turn() {}
  virtual Instant next_deadline() const { return Instant::never(); }
};

}  // namespace capstan::op
