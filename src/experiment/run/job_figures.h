#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "scenario/job_spec.h"
#include "sim/cluster/jobs.h"

namespace capstan::experiment {

/// The figures of one class of batch jobs. Conservation: arrived = ended + computing + waiting.
struct JobFigures {
  std::string name;
  std::string team{};  ///< empty: none
  std::int64_t arrived = 0;
  std::int64_t ended = 0;
  std::int64_t computing = 0;  ///< jobs that had begun to compute and had not ended at the end, also after a restart
  std::int64_t waiting = 0;    ///< jobs that had not computed at the end of the run
  /// Time from the arrival of a job to its first computing. A job that still waits counts with its time so far.
  Duration wait_p50{};
  Duration wait_p99{};
  std::int64_t restarts = 0;
  std::int64_t preempted = 0;          ///< the restarts for a gang with a higher priority
  std::int64_t resized = 0;            ///< changes of the width of elastic jobs while they ran
  std::int64_t undersized_starts = 0;  ///< starts and restarts of elastic jobs with fewer pods than their maximum
  GpuNanoseconds lost_gpu_ns = 0;      ///< GPU time whose work was lost in restarts and changes of width
  GpuNanoseconds computed_gpu_ns = 0;  ///< GPU time in which the jobs computed, with the lost part
  GpuNanoseconds gpu_ns = 0;           ///< GPU time that the pods of the jobs had
  std::int64_t micro_usd = 0;          ///< price of that GPU time
  std::optional<scenario::JobGoal> goal{};
  std::int64_t due = 0;   ///< jobs that ended, or whose deadline has passed; 0 without a goal
  std::int64_t late = 0;  ///< due jobs that did not end in time

  /// Returns the share of due jobs that ended in time, in millionths; none without a due job.
  std::optional<std::int64_t> attainment_ppm() const;
  bool holds_goal() const;
};

/// The jobs of several classes by outcome.
struct JobOutcomes {
  std::int64_t wanted = 0;  ///< due jobs of the classes with a goal, and all arrived jobs of the other classes
  std::int64_t done = 0;    ///< jobs of `wanted` that ended; if their class has a goal, only the ones in time
  std::int64_t ended_without_goal = 0;  ///< ended jobs of the classes without a goal
  std::int64_t arrived = 0;
  std::int64_t ended = 0;
  bool has_goals = false;  ///< a class has a goal
  Duration wait_p99{};     ///< the longest `wait_p99` of the classes

  std::int64_t done_ppm() const { return wanted == 0 ? 0 : done * 1'000'000 / wanted; }
};

JobOutcomes outcomes_of(const std::vector<JobFigures>& all);

/// Returns the figures of each class, without the GPU time and its price.
/// @param goals  by class
std::vector<JobFigures> job_figures(const sim::ClusterConfig& config, const sim::Jobs& jobs,
                                    const std::vector<std::optional<scenario::JobGoal>>& goals, Instant end);

}  // namespace capstan::experiment
