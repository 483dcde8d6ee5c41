#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"

namespace capstan::workload {

/// The size of a batch job.
struct JobSize {
  std::int32_t pods = 1;
  GpuCount gpus_per_pod = 1;
  std::int32_t min_pods = 0;  ///< pods with which the job may start; 0: all
  std::int64_t weight = 1;    ///< share of the jobs with this size, relative to the other sizes; > 0
};

/// The computing time of a batch job: log-normal around a median, limited to [`least`, `most`].
struct JobWork {
  Duration median = std::chrono::minutes(10);
  double sigma = 0;  ///< standard deviation of the logarithm of the time; 0: every job takes the median
  Duration least = std::chrono::seconds(1);
  Duration most = std::chrono::hours(8784);
};

/// Jobs that arrive together, once or at a fixed interval.
struct JobBatches {
  std::int64_t count = 1;  ///< jobs of a batch
  Duration at{};           ///< arrival of the first batch
  Duration interval{};     ///< time from one batch to the next; zero: there is one batch
};

/// Jobs that arrive one by one as a Poisson process, at a constant rate or at one that rises and falls each day.
struct JobRate {
  double per_hour = 0;       ///< lowest rate
  double peak_per_hour = 0;  ///< highest rate of the day; the rate is constant unless this is above `per_hour`
  Duration peak_at{};        ///< time of the day of the highest rate
};

/// All settings of a class of batch jobs.
struct JobLoad {
  std::vector<JobSize> sizes{JobSize{}};
  JobWork work;
  JobBatches batches{.count = 0, .at = {}, .interval = {}};  ///< count 0: none
  JobRate rate;
  Duration until = std::chrono::hours(8784);  ///< only jobs that arrive before this time count
};

/// One batch job of a load.
struct JobArrival {
  Instant at;
  std::int32_t pods = 1;
  MilliGpu gpus_per_pod;
  Duration work;                    ///< computing time with all pods
  std::int32_t min_pods = 0;        ///< pods with which it may start; 0: all
  std::int64_t cpu_milli = 0;       ///< CPU of one pod; 0: not stated
  std::int64_t memory_mib = 0;      ///< memory of one pod; 0: not stated
  std::vector<std::string> gpus{};  ///< kinds of GPU that the job may use; empty: not stated
};

/// Largest number of jobs of one class that readers of settings accept.
inline constexpr std::int64_t kMaxJobs = 1'000'000;

/// Returns the number of jobs that arrive, on average over all seeds. A rate that changes during the day counts with
/// its daily mean.
double expected_jobs(const JobLoad& load);

/// Draws the jobs of a class by their time of arrival. Equal settings and seeds give equal jobs.
std::vector<JobArrival> draw_jobs(const JobLoad& load, std::uint64_t seed);

}  // namespace capstan::workload
