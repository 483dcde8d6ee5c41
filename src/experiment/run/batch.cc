#include "experiment/run/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

#include "experiment/run/ranking.h"

namespace capstan::experiment {
namespace {

/// Joins the progress of several runs. The moment and the finished part are means over the runs. The requests and the
/// simulated time are sums.
class JoinedProgress {
 public:
  JoinedProgress(std::size_t runs, std::string stage, const ProgressCallback& callback)
      : by_run_(runs), stage_(std::move(stage)), callback_(callback) {}

  void note(std::size_t index, const Progress& progress) {
    const std::lock_guard lock(mutex_);
    by_run_[index] = progress;
    Progress all;
    for (const Progress& run : by_run_) {
      all.part += run.part / static_cast<double>(by_run_.size());
      all.arrived += run.arrived;
      all.simulated += run.simulated;
    }
    all.at = Instant{all.simulated / static_cast<std::int64_t>(by_run_.size())};
    all.stage = stage_;
    callback_(all);
  }

 private:
  std::mutex mutex_;
  std::vector<Progress> by_run_;
  std::string stage_;
  const ProgressCallback& callback_;
};

}  // namespace

const scenario::PolicySpec* find_policy(const scenario::Scenario& scenario, const std::string& name) {
  const auto found = std::ranges::find_if(
      scenario.policies, [&](const scenario::PolicySpec& policy) { return policy.policies.name == name; });
  return found == scenario.policies.end() ? nullptr : &*found;
}

Result<std::vector<RunResult>> run_batch(std::span<const PlannedRun> runs, unsigned jobs, const std::string& stage,
                                         const ProgressCallback& progress, const std::stop_token& stop) {
  const std::size_t count = runs.size();
  std::vector<std::optional<Result<RunResult>>> outcomes(count);
  std::atomic<std::size_t> next{0};
  JoinedProgress joined(count, stage, progress);
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      const PlannedRun& run = runs[i];
      PreparedRun prepared = prepare(*run.scenario, *run.policy, run.scenario->seed);
      prepared.setup.miss_limit = run.miss_limit;
      prepared.setup.keep_history = run.keep_history;
      prepared.setup.stop = stop;
      const ProgressCallback note = [&, i](const Progress& p) { joined.note(i, p); };
      outcomes[i] = simulate(prepared.setup, progress ? note : ProgressCallback());
      if (*outcomes[i]) (*outcomes[i])->swept_from = run.policy->swept_from;
    }
  };
  if (jobs == 0) jobs = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t threads = std::min<std::size_t>(jobs, count);
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < threads; ++i) helpers.emplace_back(work);
    work();
  }

  std::vector<RunResult> results;
  for (std::optional<Result<RunResult>>& outcome : outcomes) {
    if (!*outcome) return std::unexpected(std::move(outcome->error()));
    results.push_back(std::move(**outcome));
  }
  return results;
}

std::optional<RequestCount> miss_limit(const scenario::Scenario& scenario, const RunResult& known) {
  if (workload::is_closed_loop(scenario.endpoint().load)) return std::nullopt;
  RunResult none_met;
  none_met.requests.arrived = known.requests.arrived;
  return known.requests.arrived - requests_short_of_slo(none_met, scenario.service().slo);
}

bool exceeds_miss_limit(const RunResult& result, std::optional<RequestCount> limit) {
  return limit && result.requests.late() + result.requests.unmet() > *limit;
}

Result<std::vector<RunResult>> ExtraRuns::run(std::span<const PlannedRun> runs, const std::string& stage) {
  const int first = runs_ + 1;
  runs_ += static_cast<int>(runs.size());
  const std::string numbers =
      runs.size() == 1 ? fmt::format("run {}", first) : fmt::format("runs {} to {}", first, runs_);
  Result<std::vector<RunResult>> results = run_batch(runs, jobs_, stage + ", " + numbers, progress_, stop_);
  if (!results) return results;
  for (const RunResult& result : *results) requests_ += result.requests.arrived;
  return results;
}

}  // namespace capstan::experiment
