#pragma once

#include <cstdint>
#include <map>

#include "base/quantity.h"
#include "model/snapshot.h"

namespace capstan::experiment {

/// Invariant 4, held against the world instead of against what the controller counts: the nodes that stand and those
/// that are bought never rise above a limit of their pool or of the fleet.
class LimitWatch {
 public:
  /// Looks at the truth, once a minute.
  void minute(const model::Snapshot& truth);

  /// How often something rose while it was above its limit.
  std::int64_t broken() const { return broken_; }

 private:
  /// The size of a pool or of the fleet: nodes that stand, and those that are bought.
  struct Sum {
    GpuCount gpus = 0;
    std::int64_t nodes = 0;
    MicroUsd price_per_hour;
  };
  void hold(std::int64_t now, std::int64_t before, std::int64_t limit) {
    if (now > limit && now > before) ++broken_;
  }

  bool looked_ = false;  ///< what stands at the start was not decided by the controller
  Sum fleet_;
  std::map<model::PoolId, Sum> pools_;
  std::int64_t broken_ = 0;
};

}  // namespace capstan::experiment
