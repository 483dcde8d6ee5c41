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
  Duration finish_within{};                 ///< from the arrival of a job to its end
  std::int64_t attainment_ppm = 1'000'000;  ///< share of the jobs that should end in time
};

/// A row of `jobs:`: a class of batch jobs, how they arrive, and when they should end.
struct JobSpec {
  sim::JobClass job_class;
  std::string team{};  ///< team that the jobs belong to; empty: none
  workload::JobLoad load;
  /// The jobs of a trace, by time of arrival; none: `load` says how jobs are drawn.
  std::optional<std::vector<workload::JobArrival>> recorded{};
  std::optional<JobGoal> goal{};
};

}  // namespace capstan::scenario
