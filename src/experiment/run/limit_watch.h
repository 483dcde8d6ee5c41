#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/quantity.h"
#include "model/snapshot.h"

namespace capstan::experiment {

/// Checks invariant 4 on the simulated cluster, not on the counts of the controller: existing and ordered nodes never
/// rise above a limit of their pool or of the fleet, and the GPUs that pods hold never rise above a limit of a queue.
class LimitWatch {
 public:
  /// Checks the cluster. Call it once a minute.
  void minute(const model::Snapshot& truth);

  /// Returns how often a quantity rose while it was above its limit.
  std::int64_t broken() const { return broken_; }

 private:
  /// The size of a pool or of the fleet, existing and ordered nodes together.
  struct Sum {
    model::NodeAmounts amounts{};
    MicroUsd price_per_hour;
  };
  void count_breach(std::int64_t now, std::int64_t before, std::int64_t limit) {
    if (now > limit && now > before) ++broken_;
  }
  void count_breaches(const model::NodeAmounts& now, const model::NodeAmounts& before, const model::PoolLimits& limits);
  void watch_queues(const model::Snapshot& truth);

  /// True after the first check, which only counts the nodes. The controller did not order the initial nodes.
  bool has_start_ = false;
  Sum fleet_;
  std::map<model::PoolId, Sum> pools_;
  std::vector<MilliGpu> queues_;  ///< GPUs that the pods of each queue and of the queues below it hold
  std::int64_t broken_ = 0;
};

}  // namespace capstan::experiment
