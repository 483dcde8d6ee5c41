#include "experiment/report/jobs_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/number_text.h"
#include "base/unit_text.h"
#include "experiment/report/result_words.h"
#include "experiment/report/services.h"
#include "experiment/run/ranking.h"
#include "experiment/text/words.h"

namespace capstan::experiment {

namespace {

/// Returns "19 of 20 jobs ended".
std::string ended_words(const RunResult& r) {
  const JobOutcomes jobs = r.job_outcomes();
  return fmt::format("{} of {} ended", grouped_text(jobs.ended), count_text(jobs.arrived, "job", "jobs"));
}

std::string ended_and_cost(const RunResult& r) { return ended_words(r) + " for " + cost_words(r); }

/// Returns the restarts of the jobs and the work that they lost: "; 3 restarts lost 1.2 GPU-hours". A change of width
/// counts as a restart. Empty if there was none.
std::string lost_words(const RunResult& r) {
  std::int64_t restarts = 0;
  GpuNanoseconds lost = 0;
  for (const JobFigures& jobs : r.jobs) {
    restarts += jobs.restarts + jobs.resized;
    lost += jobs.lost_gpu_ns;
  }
  if (restarts == 0) return "";
  return fmt::format("; {} lost {} GPU-hours", count_text(restarts, "restart", "restarts"), gpu_hours(lost));
}

/// Returns why the first policy comes first.
std::string first_words(const RunResult& best, bool is_only) {
  const JobOutcomes jobs = best.job_outcomes();
  const std::string figures = ended_and_cost(best) + time_and_price_words(best);
  if (!jobs.has_goals && is_only) return fmt::format("{}: {}{}.", best.policy, figures, lost_words(best));
  if (!jobs.has_goals) {
    return fmt::format("{} is the cheapest of the policies under which the most jobs end: {}.", best.policy, figures);
  }
  if (is_only) return fmt::format("{} holds the goals of the jobs: {}{}.", best.policy, figures, lost_words(best));
  const bool has_jobs_without_goal = std::ranges::any_of(best.jobs, [](const JobFigures& one) { return !one.goal; });
  return fmt::format("{} is the cheapest policy that holds the goals of the jobs{}: {}.", best.policy,
                     has_jobs_without_goal ? " and ends the most jobs without a goal" : "", figures);
}

/// Returns the comparison of the second policy with the first.
std::string next_words(const RunResult& best, const RunResult& next, const model::Slo& slo) {
  const std::string missed = holds_slo(next, slo) ? "" : fmt::format("; it misses {}", missed_services_words(next));
  return fmt::format(" {} comes next: {}, {} {}{}.", next.policy, ended_and_cost(next), cost_against(next, best),
                     best.policy, missed);
}

bool are_alike(const RunResult& a, const RunResult& b) {
  const JobOutcomes of_a = a.job_outcomes(), of_b = b.job_outcomes();
  return of_a.ended == of_b.ended && of_a.done == of_b.done && !is_cheaper(a, b) && !is_cheaper(b, a);
}

}  // namespace

std::string jobs_verdict(const Comparison& c) {
  const RunResult& best = c.results.front();
  if (best.job_outcomes().arrived == 0) return "No job arrived.";
  const bool is_only = c.results.size() == 1;
  if (!holds_slo(best, c.slo)) {
    const std::string figures = ended_and_cost(best) + time_and_price_words(best);
    const std::string missed = missed_services_words(best);
    if (is_only) return fmt::format("{} misses {}: {}{}.", best.policy, missed, figures, lost_words(best));
    return fmt::format("No policy holds the goals of the jobs. {} comes closest: {}; it misses {}.", best.policy,
                       figures, missed);
  }
  if (!is_only && std::ranges::all_of(c.results, [&](const RunResult& r) { return are_alike(r, best); })) {
    const std::size_t number = c.results.size();
    return fmt::format("{} policies have the same result: {}{} with each of them.",
                       number == 2 ? "Both" : fmt::format("All {}", number), ended_and_cost(best),
                       time_and_price_words(best));
  }
  return first_words(best, is_only) + (is_only ? "" : next_words(best, c.results[1], c.slo));
}

std::string job_terms(const RunResult& a, const RunResult& b) {
  std::string text;
  const auto add = [&](std::int64_t difference, const char* noun, const char* nouns, const char* what) {
    if (difference == 0) return;
    text += fmt::format("{}{} {} {} {}", text.empty() ? "" : ", ", grouped_text(std::abs(difference)),
                        difference > 0 ? "more" : "fewer", std::abs(difference) == 1 ? noun : nouns, what);
  };
  const auto late = [](const RunResult& r) {
    std::int64_t sum = 0;
    for (const JobFigures& jobs : r.jobs) sum += jobs.late;
    return sum;
  };
  add(a.job_outcomes().ended - b.job_outcomes().ended, "job", "jobs", "ended");
  add(late(a) - late(b), "job", "jobs", "late");
  return text;
}

}  // namespace capstan::experiment
