#include "experiment/run/job_figures.h"

#include <algorithm>

namespace capstan::experiment {
namespace {

/// Returns the smallest value that at least `percent` of all values do not exceed. Sorts the values.
Duration percentile(std::vector<Duration>& values, std::size_t percent) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  return values[(values.size() * percent + 99) / 100 - 1];
}

void count(JobFigures& figures, const sim::JobProgress& progress) {
  ++figures.arrived;
  ++(progress.has_ended() ? figures.ended : progress.has_started() ? figures.computing : figures.waiting);
  figures.restarts += progress.restarts;
  figures.preempted += progress.preemptions;
  figures.resized += progress.resizes;
  figures.undersized_starts += progress.undersized_starts;
}

/// Counts a job whose goal is decided: the job ended, or its deadline had passed at the end of the run.
void judge(JobFigures& figures, const sim::JobProgress& progress, Instant arrival, Instant end) {
  if (!figures.goal) return;
  const Instant until = arrival + figures.goal->finish_within;
  if (!progress.has_ended() && until > end) return;
  ++figures.due;
  if (!progress.has_ended() || progress.ended_at > until) ++figures.late;
}

}  // namespace

std::optional<std::int64_t> JobFigures::attainment_ppm() const {
  if (due == 0) return std::nullopt;
  return (due - late) * 1'000'000 / due;
}

bool JobFigures::holds_goal() const { return !goal || attainment_ppm().value_or(1'000'000) >= goal->attainment_ppm; }

JobOutcomes outcomes_of(const std::vector<JobFigures>& all) {
  JobOutcomes sum;
  for (const JobFigures& jobs : all) {
    sum.wanted += jobs.goal ? jobs.due : jobs.arrived;
    sum.done += jobs.goal ? jobs.due - jobs.late : jobs.ended;
    sum.ended_without_goal += jobs.goal ? 0 : jobs.ended;
    sum.arrived += jobs.arrived;
    sum.ended += jobs.ended;
    sum.has_goals |= jobs.goal.has_value();
    sum.wait_p99 = std::max(sum.wait_p99, jobs.wait_p99);
  }
  return sum;
}

std::vector<JobFigures> job_figures(const sim::ClusterConfig& config, const sim::Jobs& jobs,
                                    const std::vector<std::optional<scenario::JobGoal>>& goals, Instant end) {
  std::vector<JobFigures> all(config.job_classes.size());
  std::vector<std::vector<Duration>> waits(all.size());
  for (std::size_t c = 0; c < all.size(); ++c) {
    all[c].name = config.job_classes[c].name;
    if (c < goals.size()) all[c].goal = goals[c];
  }
  const std::vector<Duration> open = jobs.open_work(end);
  for (std::size_t i = 0; i < jobs.progress().size(); ++i) {
    const sim::Job& job = config.jobs[i];
    const sim::JobProgress& progress = jobs.progress()[i];
    JobFigures& figures = all[job.job_class];
    count(figures, progress);
    judge(figures, progress, job.at, end);
    const auto gpu_ns = [&](Duration computing) {
      return GpuNanoseconds{computing.count()} * job.pods * job.gpus_per_pod.count / 1000;
    };
    figures.lost_gpu_ns += gpu_ns(progress.lost);
    figures.computed_gpu_ns += gpu_ns(progress.saved) + gpu_ns(progress.lost) + gpu_ns(open[i]);
    waits[job.job_class].push_back((progress.has_started() ? progress.started_at : end) - job.at);
  }
  for (std::size_t c = 0; c < all.size(); ++c) {
    all[c].wait_p50 = percentile(waits[c], 50);
    all[c].wait_p99 = percentile(waits[c], 99);
  }
  return all;
}

}  // namespace capstan::experiment
