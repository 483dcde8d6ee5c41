#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "sim/cluster/cluster_config.h"
#include "workload/jobs.h"

namespace capstan::scenario {

/// The time in which the jobs of a class should end.
struct JobGoal {
  Duration finish_within{};                 ///< longest time from the arrival of a job to its end
  std::int64_t attainment_ppm = 1'000'000;  ///< share of the jobs that should end in time
};

/// A job of a trace.
struct RecordedJob {
  workload::JobArrival arrival;
  model::PodClassId pod_class{};         ///< CPU and memory of the row, and the labels of the class
  std::vector<model::GpuKindId> gpus{};  ///< kinds of GPU that the row names; empty: those of the class
};

/// A row of `jobs:`: a class of batch jobs, how they arrive, and when they should end.
struct JobSpec {
  sim::JobClass job_class;
  std::string team{};  ///< team that the jobs belong to; empty: none
  workload::JobLoad load;
  /// The jobs of a trace, by time of arrival; none: `load` says how jobs are drawn.
  std::optional<std::vector<RecordedJob>> recorded{};
  bool any_gpu = false;  ///< true: its jobs may use every kind of GPU that the cluster has or can buy
  std::optional<JobGoal> goal{};
};

}  // namespace capstan::scenario
