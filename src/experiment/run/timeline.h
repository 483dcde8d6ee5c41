#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "experiment/run/result.h"

// A run in few numbers over time, for sparklines.
namespace capstan::experiment {

/// Most buckets of a timeline.
inline constexpr std::size_t kTimelineBucketsMost = 60;

/// A stretch of a run. Requests are counted by when they arrived, so that buckets add up to the figures of the run.
struct TimelineBucket {
  RequestCount arrived = 0;
  RequestCount late = 0;              ///< completed outside a bound of the SLO
  RequestCount unmet = 0;             ///< not completed: rejected, failed, timed out, or under way at the end
  std::int64_t ready_mean_milli = 0;  ///< mean of ready replicas at the ends of its minutes, in 1/1000

  RequestCount missed() const { return late + unmet; }
};

/// Returns whole minutes: the shortest buckets of which the longest of the runs has at most so many.
Duration bucket_length(std::span<const RunResult> results, std::size_t buckets_most = kTimelineBucketsMost);

/// Returns the run in buckets of this length, the last one for what is left.
std::vector<TimelineBucket> timeline(const RunResult& result, Duration bucket);

}  // namespace capstan::experiment
