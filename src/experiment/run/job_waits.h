#pragma once

#include <cstdint>
#include <vector>

#include "experiment/run/result.h"
#include "model/snapshot.h"
#include "sim/cluster/cluster_config.h"

namespace capstan::experiment {

/// Finds the times in which batch jobs waited long for GPUs, and the queues that were full.
class JobWaits {
 public:
  static constexpr const char* kReason = "jobs_waited";  ///< `Moment::reason` of its moments
  static constexpr std::size_t kMaxMoments = 2;
  /// Time that the oldest job must have waited. Shorter waits are usual: a node takes minutes to start.
  static constexpr Duration kLongWait = std::chrono::minutes(10);

  /// @param config  must outlive this object
  explicit JobWaits(const sim::ClusterConfig& config) : config_(config), periods_(config.job_classes.size()) {}

  /// Notes the jobs that wait. Call it at the end of each minute.
  void minute(Instant now, const model::Snapshot& truth);
  /// Ends all periods. Returns a moment for each, at most `kMaxMoments`. Their weight is the GPU-minutes for which the
  /// jobs waited.
  std::vector<Moment> take_moments();

 private:
  /// Minutes in a row in which jobs of a class waited long.
  struct Period {
    std::int64_t waiting_milli_gpu_minutes = 0;
    MilliGpu most{};  ///< most GPUs for which jobs waited
    Moment worst{};   ///< describes the minute in which jobs waited for the most GPUs
  };
  /// The waiting jobs of a class in one minute.
  struct Waiting {
    std::int64_t jobs = 0;
    MilliGpu gpus{};
    MilliGpu smallest{};  ///< GPUs of the smallest job
    Duration longest{};   ///< time that the oldest of them has waited
  };
  void close(Period& period);
  std::string sentence(std::size_t job_class, const Waiting& waiting, const std::string& obstacle) const;

  const sim::ClusterConfig& config_;
  std::vector<Period> periods_;  ///< by class of jobs
  std::vector<Moment> moments_;
};

}  // namespace capstan::experiment
