#include "experiment/run/timeline.h"

#include <algorithm>

namespace capstan::experiment {
namespace {

constexpr Duration kBucketStep = std::chrono::minutes(1);

}  // namespace

Duration bucket_length(std::span<const RunResult> results, std::size_t buckets_most) {
  std::size_t minutes = 0;
  for (const RunResult& result : results) minutes = std::max(minutes, result.minutes.size());
  const std::size_t length = (minutes + buckets_most - 1) / buckets_most;
  return kBucketStep * static_cast<std::int64_t>(std::max<std::size_t>(1, length));
}

std::vector<TimelineBucket> timeline(const RunResult& result, Duration bucket) {
  const auto length = static_cast<std::size_t>(std::max<std::int64_t>(1, bucket / kBucketStep));
  std::vector<TimelineBucket> buckets;
  for (std::size_t first = 0; first < result.minutes.size(); first += length) {
    const std::size_t end = std::min(first + length, result.minutes.size());
    TimelineBucket sum;
    for (std::size_t i = first; i < end; ++i) {
      const Minute& minute = result.minutes[i];
      sum.arrived += minute.arrived;
      sum.late += minute.completed - minute.met;
      sum.unmet += minute.arrived - minute.completed;
      sum.ready_mean_milli += minute.ready * 1000;
    }
    sum.ready_mean_milli /= static_cast<std::int64_t>(end - first);
    buckets.push_back(sum);
  }
  return buckets;
}

}  // namespace capstan::experiment
