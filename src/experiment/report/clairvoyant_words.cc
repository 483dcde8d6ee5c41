#include "experiment/report/clairvoyant_words.h"

#include <fmt/format.h>

#include "base/unit_text.h"
#include "experiment/report/frontier.h"
#include "experiment/run/ranking.h"
#include "experiment/text/layout.h"
#include "experiment/text/words.h"

namespace capstan::experiment {
namespace {

/// Returns "1.14x" for 1,140, rounded half up.
std::string times(std::int64_t milli) {
  const std::int64_t hundredths = (milli + 5) / 10;
  return fmt::format("{}.{:02}x", hundredths / 100, hundredths % 100);
}

std::string plan_words(const Clairvoyant& c) {
  const Clairvoyant::AchievableResult& plan = c.achievable;
  const std::string raised =
      plan.raised_ppm == 0
          ? "the plan behind the lower bound"
          : fmt::format("the plan behind the lower bound, with {} % more replicas,", tenths(plan.raised_ppm, 10'000));
  if (!plan.holds) return raised + " still misses the SLO, and no larger plan was tried";
  const std::int64_t gap_milli =
      c.bound.gpu_ns <= 0 ? 0 : static_cast<std::int64_t>(plan.result.paid_gpu_ns() * 1000 / c.bound.gpu_ns);
  return fmt::format(
      "{} holds the SLO with {} the GPU time of the lower bound{}", raised, times(gap_milli),
      c.has_wide_gap() ? "; the cheapest possible fleet lies between the two, so the bound is not a target" : "");
}

std::string bound_words(const Clairvoyant& c) {
  std::string text = fmt::format(
      "the work of all requests takes at least {} GPU-h; the lower bound also counts cold starts and replicas that "
      "wait for requests, but not the requests that may miss the SLO",
      gpu_hours(c.bound.work_gpu_ns));
  if (!c.bound.solved) text += "; the solver stopped early, so the bound could be higher";
  if (c.bound.unattainable_requests > 0) {
    text += fmt::format("; {} would miss the SLO even alone on a warm replica, and both rows leave {} out",
                        count_text(c.bound.unattainable_requests, "request", "requests"),
                        c.bound.unattainable_requests == 1 ? "it" : "them");
  }
  return text;
}

}  // namespace

std::string lower_bound_name(const model::Slo& slo) {
  return "lower bound for " + share_text(slo.attainment_ppm) + " met";
}

std::string clairvoyant_words(const Comparison& comparison, std::size_t width) {
  const Clairvoyant& clairvoyant = *comparison.clairvoyant;
  std::string against;
  for (const RunResult& result : comparison.results) {
    if (!shown(comparison, result)) continue;
    against += fmt::format("{}{} {}{}", against.empty() ? "" : "; ", result.policy,
                           times(over_achievable_milli(result, clairvoyant)),
                           holds_slo(result, comparison.slo) ? "" : " and misses the SLO");
  }
  return wrapped("bound       ", bound_words(clairvoyant), width) +
         wrapped("achievable  ", plan_words(clairvoyant), width) +
         wrapped("policies    ", "GPU time of each policy divided by that of the achievable row: " + against, width);
}

}  // namespace capstan::experiment
