#pragma once

#include <optional>
#include <vector>

#include "base/time.h"
#include "operator/view/pod_groups.h"

namespace capstan::op {

/// Returns the time that a replica took from its node to its first request, by the conditions of its pods. None if it
/// does not serve, or if it apparently became unready after its start and then ready again.
std::optional<Duration> start_of(const PodGroup& replica);

/// The times that the replicas of one workload took to start. They predict the next start, also after a restart of the
/// controller.
class StartTimes {
 public:
  explicit StartTimes(std::vector<Duration> starts);

  /// Predicts when a starting replica will serve: after the upper quartile of the known times. Never if none is known.
  Instant expected_ready_at(const PodGroup& replica) const;

 private:
  std::optional<Duration> typical_;
};

}  // namespace capstan::op
