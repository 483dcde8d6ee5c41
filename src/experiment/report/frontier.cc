#include "experiment/report/frontier.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/unit_text.h"
#include "experiment/report/verdict.h"
#include "experiment/run/ranking.h"
#include "experiment/text/layout.h"
#include "experiment/text/words.h"
#include "model/role_names.h"

namespace capstan::experiment {
namespace {

/// Returns the cost in millionths of a USD, or the paid GPU time in nanoseconds.
__int128 price(const RunResult& result, Cost cost) {
  return cost == Cost::usd ? result.total_micro_usd() : result.paid_gpu_ns();
}

std::string met(const RunResult& result) { return share_text(result.attainment_ppm()); }

std::string price_words(const RunResult& result, Cost cost) {
  return cost == Cost::usd ? usd(result.total_micro_usd()) + " USD" : gpu_hours(result.paid_gpu_ns()) + " GPU-h";
}

std::string frontier_line(const Comparison& c, Cost cost, std::size_t width) {
  std::string text;
  for (const RunResult* result : frontier(c.results, cost)) {
    text += fmt::format("{}{} ({} for {})", text.empty() ? "" : "; ", result->policy, met(*result),
                        price_words(*result, cost));
  }
  return wrapped(cost == Cost::usd ? "frontier by USD    " : "frontier by GPU-h  ", text, width);
}

std::string changes_line(const Comparison& c, std::size_t width) {
  std::string text;
  for (const RunResult& result : c.results) {
    if (!shown(c, result)) continue;
    text += fmt::format("{}{}: {} changes of the replica count, {} reversals", text.empty() ? "" : "; ", result.policy,
                        tenths(per_hour_milli(result.scale_changes, result.simulated), 1000),
                        tenths(per_hour_milli(result.reversals, result.simulated), 1000));
  }
  return wrapped("per hour  ", text, width);
}

std::string tuned_lines(const Comparison& c, std::size_t width) {
  std::string text;
  for (const RunResult& result : c.results) {
    const RunResult* best = best_of_sweep(c.results, result.policy, c.slo);
    if (best == nullptr) continue;
    std::string words = "no setting that was tried is better";
    if (best != &result) {
      words = fmt::format("{} instead of {}", price_words(*best, Cost::usd), price_words(result, Cost::usd));
      if (const std::string difference = difference_words(*best, result); !difference.empty()) {
        words += "; " + difference;
      }
    }
    text += wrapped("tuned  ", fmt::format("{}: {}", best->policy, words), width);
  }
  return text;
}

std::string step_words(const RunResult& result, const ScaleStep& step) {
  const std::string part = step.part().empty() ? "" : step.part() + " ";
  const std::string one = part + "replica", many = part + "replicas";
  return fmt::format("{} has requested {} since {}: {}", result.policy,
                     count_text(step.desired, one.c_str(), many.c_str()), clock(step.at), step.why);
}

std::string divergence_line(const RunResult& a, const RunResult& b, std::size_t width) {
  const std::optional<Divergence> first = first_divergence(a, b);
  if (!first) {
    return wrapped("first difference  ",
                   fmt::format("{} and {} always requested the same number of replicas", a.policy, b.policy), width);
  }
  return wrapped("first difference  " + clock(first->at) + "  ",
                 step_words(a, first->a) + "; " + step_words(b, first->b), width);
}

}  // namespace

std::vector<const RunResult*> frontier(std::span<const RunResult> results, Cost cost) {
  std::vector<const RunResult*> order;
  for (const RunResult& result : results) order.push_back(&result);
  std::ranges::stable_sort(order, [&](const RunResult* a, const RunResult* b) {
    const std::int64_t price_a = price(*a, cost), price_b = price(*b, cost);
    return price_a != price_b ? price_a < price_b : a->attainment_ppm() > b->attainment_ppm();
  });
  std::vector<const RunResult*> best;
  for (const RunResult* result : order) {
    if (best.empty() || result->attainment_ppm() > best.back()->attainment_ppm()) best.push_back(result);
  }
  return best;
}

namespace {

std::vector<const ScaleStep*> steps_of(const RunResult& result, const std::string& part) {
  std::vector<const ScaleStep*> steps;
  for (const ScaleStep& step : result.scale_steps) {
    if (step.part() == part) steps.push_back(&step);
  }
  return steps;
}

std::optional<Divergence> first_divergence(const RunResult& a, const RunResult& b, const std::string& part) {
  const std::vector<const ScaleStep*> steps_a = steps_of(a, part), steps_b = steps_of(b, part);
  std::size_t i = 0, j = 0;
  while (i < steps_a.size() || j < steps_b.size()) {
    const Instant next_a = i < steps_a.size() ? steps_a[i]->at : Instant::never();
    const Instant next_b = j < steps_b.size() ? steps_b[j]->at : Instant::never();
    const Instant now = std::min(next_a, next_b);
    i += next_a == now ? 1 : 0;
    j += next_b == now ? 1 : 0;
    const ScaleStep none;
    const ScaleStep& last_a = i > 0 ? *steps_a[i - 1] : none;
    const ScaleStep& last_b = j > 0 ? *steps_b[j - 1] : none;
    if (last_a.desired != last_b.desired) return Divergence{now, last_a, last_b};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Divergence> first_divergence(const RunResult& a, const RunResult& b) {
  std::optional<Divergence> first;
  std::vector<std::string> parts;  // parts in the order of their first steps
  for (const RunResult* result : {&a, &b}) {
    for (const ScaleStep& step : result->scale_steps) {
      if (std::ranges::find(parts, step.part()) == parts.end()) parts.push_back(step.part());
    }
  }
  for (const std::string& part : parts) {
    const std::optional<Divergence> here = first_divergence(a, b, part);
    if (here && (!first || here->at < first->at)) first = here;
  }
  return first;
}

std::int64_t per_hour_milli(std::int64_t count, Duration simulated) {
  if (simulated <= Duration{}) return 0;
  const auto hour = static_cast<__int128>(std::chrono::nanoseconds(std::chrono::hours(1)).count());
  return static_cast<std::int64_t>(static_cast<__int128>(count) * 1000 * hour / simulated.count());
}

const RunResult* best_of_sweep(std::span<const RunResult> results, const std::string& policy, const model::Slo& slo) {
  const RunResult* best = nullptr;
  bool swept = false;
  for (const RunResult& result : results) {
    if (result.policy != policy && result.swept_from != policy) continue;
    swept = swept || result.swept_from == policy;
    if (best == nullptr || ranks_before(result, *best, slo)) best = &result;
  }
  return swept ? best : nullptr;
}

bool shown(const Comparison& comparison, const RunResult& result) {
  return result.swept_from.empty() || best_of_sweep(comparison.results, result.swept_from, comparison.slo) == &result;
}

std::string frontier_words(const Comparison& comparison, std::size_t width) {
  std::string text = frontier_line(comparison, Cost::usd, width) + frontier_line(comparison, Cost::gpu_hours, width) +
                     changes_line(comparison, width) + tuned_lines(comparison, width);
  const RunResult& first = comparison.results.front();
  const auto other = std::find_if(comparison.results.begin() + 1, comparison.results.end(),
                                  [&](const RunResult& result) { return shown(comparison, result); });
  if (other != comparison.results.end()) text += divergence_line(first, *other, width);
  return text;
}

}  // namespace capstan::experiment
