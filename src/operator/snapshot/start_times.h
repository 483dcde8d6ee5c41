#pragma once

#include <optional>
#include <vector>

#include "base/time.h"
#include "operator/view/pod_groups.h"

namespace capstan::op {

/// Returns the time from the binding of the last pod of a replica until the replica was ready, by the conditions of its
/// pods. Returns none if the replica is not ready, or if the time is so long that it was probably ready before.
std::optional<Duration> start_of(const PodGroup& replica);

/// The times that the replicas of one workload took to start. They predict the next start, also after a restart of the
/// controller.
class StartTimes {
 public:
  void add(Duration start);
  void remove(Duration start);  ///< removes a time that was added

  /// Returns the upper quartile of the known times, or none.
  std::optional<Duration> typical() const;
  /// Predicts when a starting replica will serve: the typical time after its last pod was bound. Returns
  /// `Instant::never()` if no time is known.
  Instant expected_ready_at(const PodGroup& replica) const;

 private:
  std::vector<Duration> starts_;  ///< ascending
};

}  // namespace capstan::op
