#include "experiment/run/ranking.h"

#include <algorithm>

namespace capstan::experiment {
namespace {

/// Returns how many more requests would have to be met to hold the SLO. The number to be met is rounded up, because
/// attainment is rounded down to whole millionths.
RequestCount requests_short(const RequestFigures& requests, const model::Slo& slo) {
  const auto product = static_cast<__int128>(requests.arrived) * slo.attainment_ppm;
  return std::max<RequestCount>(0, static_cast<RequestCount>((product + 999'999) / 1'000'000) - requests.met);
}

/// Returns how many services miss their SLO, and how many classes of jobs their goal.
std::int64_t goals_missed(const RunResult& result) {
  return std::ranges::count_if(result.services, [](const ServiceFigures& service) { return !service.holds_slo(); }) +
         std::ranges::count_if(result.jobs, [](const JobFigures& jobs) { return !jobs.holds_goal(); });
}

/// Returns the number of ended jobs without a goal if the scenario has only jobs, otherwise 0. Without this number, a
/// policy that buys no node and runs no job would come first. If services share the cluster, their SLOs and the cost
/// decide.
std::int64_t jobs_without_goal_ended(const RunResult& result) {
  return result.has_only_jobs() ? result.job_outcomes().ended_without_goal : 0;
}

}  // namespace

bool holds_slo(const RunResult& result, const model::Slo& slo) {
  if (result.is_shared()) return goals_missed(result) == 0;
  return result.attainment_ppm() >= slo.attainment_ppm;
}

RequestCount requests_short_of_slo(const RunResult& result, const model::Slo& slo) {
  if (!result.is_shared()) return requests_short(result.requests, slo);
  RequestCount sum = 0;
  for (const ServiceFigures& service : result.services) sum += requests_short(service.requests, service.slo);
  return sum;
}

bool is_cheaper(const RunResult& a, const RunResult& b) {
  if (a.total_micro_usd() != b.total_micro_usd()) return a.total_micro_usd() < b.total_micro_usd();
  return a.paid_gpu_ns() < b.paid_gpu_ns();
}

bool ranks_before(const RunResult& a, const RunResult& b, const model::Slo& slo) {
  const bool a_holds = holds_slo(a, slo);
  if (a_holds != holds_slo(b, slo)) return a_holds;
  if (goals_missed(a) != goals_missed(b)) return goals_missed(a) < goals_missed(b);
  if (!a_holds && a.attainment_ppm() != b.attainment_ppm()) return a.attainment_ppm() > b.attainment_ppm();
  if (const std::int64_t ended_a = jobs_without_goal_ended(a), ended_b = jobs_without_goal_ended(b);
      ended_a != ended_b) {
    return ended_a > ended_b;
  }
  if (is_cheaper(a, b)) return true;
  return !is_cheaper(b, a) && a.policy < b.policy;
}

void rank(std::vector<RunResult>& results, const model::Slo& slo) {
  std::ranges::sort(results, [&](const RunResult& a, const RunResult& b) { return ranks_before(a, b, slo); });
}

}  // namespace capstan::experiment
