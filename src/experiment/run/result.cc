#include "experiment/run/result.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "experiment/run/team_figures.h"

namespace capstan::experiment {

namespace {

/// An integer for the product of two totals, such as GPU-nanoseconds of a year times millions of requests.
__extension__ typedef __int128 Wide;

/// Returns the quotient; at most the largest 64-bit integer.
std::int64_t ratio(Wide numerator, Wide denominator) {
  constexpr Wide kLargest = std::numeric_limits<std::int64_t>::max();
  return denominator <= 0 ? 0 : static_cast<std::int64_t>(std::min(numerator / denominator, kLargest));
}

/// Returns the cost without that of the GPUs of jobs, which answer no requests.
std::int64_t serving_micro_usd(const RunResult& result) {
  std::int64_t cost = result.total_micro_usd();
  for (const JobFigures& job_class : result.jobs) cost -= job_class.micro_usd;
  return cost;
}

}  // namespace

GpuNanoseconds RunResult::paid_gpu_ns() const {
  return std::accumulate(gpu_ns.begin(), gpu_ns.end(), GpuNanoseconds{0});
}

std::int64_t RunResult::total_micro_usd() const {
  return std::accumulate(cost_micro_usd.begin(), cost_micro_usd.end(), std::int64_t{0});
}

std::optional<std::int64_t> RunResult::micro_usd_per_1000_met() const {
  if (requests.met == 0) return std::nullopt;
  return ratio(Wide{serving_micro_usd(*this)} * 1'000, requests.met);
}

std::optional<std::int64_t> RunResult::micro_usd_per_million_tokens() const {
  if (tokens.delivered == 0) return std::nullopt;
  return ratio(Wide{serving_micro_usd(*this)} * 1'000'000, tokens.delivered);
}

std::int64_t ServiceFigures::attainment_ppm() const { return ratio(Wide{requests.met} * 1'000'000, requests.arrived); }

std::int64_t RunResult::attainment_ppm() const {
  return has_only_jobs() ? job_outcomes().done_ppm() : ratio(Wide{requests.met} * 1'000'000, requests.arrived);
}

JobOutcomes RunResult::job_outcomes() const { return outcomes_of(jobs); }

std::int64_t RunResult::score_milli() const {
  const JobOutcomes all_jobs = has_only_jobs() ? job_outcomes() : JobOutcomes();
  const Wide met = has_only_jobs() ? all_jobs.done : requests.met;
  const Wide asked = has_only_jobs() ? all_jobs.wanted : requests.arrived;
  // GPU time is in microseconds here, so that every product stays below 2^127.
  return ratio(100'000 * met * (useful_gpu_ns / 1000), asked * (paid_gpu_ns() / 1000));
}

std::int64_t open_balances(const RunResult& r) {
  const RequestFigures& q = r.requests;
  const bool requests =
      q.arrived == q.completed + q.in_flight + q.queued + q.rejected + q.failed + q.timed_out && q.met <= q.completed;
  const bool tokens = r.tokens.conserved() && r.cached_tokens <= r.prompt_tokens;
  const bool not_negative = std::ranges::all_of(r.gpu_ns, [](GpuNanoseconds time) { return time >= 0; }) &&
                            std::ranges::all_of(r.cost_micro_usd, [](std::int64_t cost) { return cost >= 0; });
  const bool gpu_time = r.paid_gpu_ns() == r.node_gpu_ns && r.useful_gpu_ns <= r.node_gpu_ns && not_negative;
  std::int64_t spent_micro_usd = 0;
  for (const Spending& part : r.spending) spent_micro_usd += part.micro_usd;
  bool money = r.total_micro_usd() == r.node_micro_usd && spent_micro_usd == r.node_micro_usd;
  if (r.is_shared()) {
    std::int64_t by_user_micro_usd = r.idle_node_micro_usd;
    for (const ServiceFigures& service : r.services) by_user_micro_usd += service.micro_usd;
    for (const JobFigures& jobs : r.jobs) by_user_micro_usd += jobs.micro_usd;
    money &= by_user_micro_usd == r.node_micro_usd;
  }
  return (requests ? 0 : 1) + (tokens ? 0 : 1) + (gpu_time ? 0 : 1) + (money ? 0 : 1) + (teams_add_up(r) ? 0 : 1);
}

}  // namespace capstan::experiment
