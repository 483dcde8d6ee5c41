#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "experiment/run/result.h"

// A run as a few numbers over time, for sparklines.
namespace capstan::experiment {

/// Largest number of buckets of a timeline.
inline constexpr std::size_t kMaxTimelineBuckets = 60;

/// An interval of a run. Requests count in the bucket in which they arrived, so that the buckets add up to the figures
/// of the run.
struct TimelineBucket {
  RequestCount arrived = 0;
  RequestCount late = 0;              ///< completed outside a bound of the SLO
  RequestCount unmet = 0;             ///< not completed: rejected, failed, timed out, or under way at the end
  std::int64_t ready_mean_milli = 0;  ///< mean of the ready replicas at the ends of its minutes, thousandths

  RequestCount missed() const { return late + unmet; }
};

/// Returns the shortest length of a bucket, in whole minutes, with which the longest run has at most `buckets_most`.
Duration bucket_length(std::span<const RunResult> results, std::size_t buckets_most = kMaxTimelineBuckets);

/// Returns the run in buckets of this length. The last bucket may be shorter.
std::vector<TimelineBucket> timeline(const RunResult& result, Duration bucket);

}  // namespace capstan::experiment
