#pragma once

#include <optional>
#include <vector>

#include "base/time.h"
#include "operator/view/pod_groups.h"

namespace capstan::op {

/// How long the replicas of one workload took from their node to their first request, as their pods' conditions tell:
/// what the next start may take, also for a process that has seen none.
class StartTimes {
 public:
  explicit StartTimes(const std::vector<PodGroup>& replicas);

  /// When a replica that starts may serve: after the upper quartile of the others' times. Never where none has served.
  Instant expected_ready_at(const PodGroup& replica) const;

 private:
  std::optional<Duration> typical_;
};

}  // namespace capstan::op
