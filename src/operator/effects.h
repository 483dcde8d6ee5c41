#pragma once

#include <vector>

#include "model/plan.h"
#include "model/snapshot.h"
#include "ports/world.h"

namespace capstan::op {

/// Carries actions out at the cluster's objects, where a mode is Active.
class Effects {
 public:
  virtual ~Effects() = default;
  /// Begins; never refuses by itself.
  /// @param seen  what the action was decided from; ids are those of the `SnapshotBuilder` that made it
  virtual void submit(model::ActionToken token, const model::Action& action, const model::Snapshot& seen) = 0;
  /// Those that have arrived since the last call, each token once.
  virtual std::vector<ports::Outcome> outcomes() = 0;
};

}  // namespace capstan::op
