#include "experiment/report/result_words.h"

#include <fmt/format.h>

#include "base/number_text.h"
#include "base/unit_text.h"
#include "experiment/report/frontier.h"
#include "experiment/text/words.h"

namespace capstan::experiment {
namespace {

/// Returns "33 % less than" or "under 1 % more than" for two different costs.
std::string difference_words(__int128 cost, __int128 than) {
  const char* direction = cost > than ? "more" : "less";
  if (than == 0) return fmt::format("{} than", direction);
  const __int128 difference = cost > than ? cost - than : than - cost;
  const auto percent = static_cast<std::int64_t>((difference * 200 / than + 1) / 2);  // rounded
  if (percent == 0) return fmt::format("under 1 % {} than", direction);
  return fmt::format("{} % {} than", grouped_text(percent), direction);
}

}  // namespace

std::int64_t idle_gpu_minutes(const RunResult& result) {
  GpuNanoseconds idle = 0;
  for (const GpuState state : {GpuState::idle, GpuState::sleeping, GpuState::held, GpuState::unallocated}) {
    idle += result.gpu_ns[static_cast<std::size_t>(state)];
  }
  constexpr std::int64_t kMinute = 60'000'000'000;
  return static_cast<std::int64_t>((idle + kMinute / 2) / kMinute);
}

std::string broken_words(const RunResult& result) {
  std::string text;
  const auto add = [&](std::int64_t count, const char* one, const char* many) {
    if (count > 0) text += (text.empty() ? "broken invariants: " : ", ") + count_text(count, one, many);
  };
  const InvariantFigures& broken = result.invariants;
  add(broken.partial_gang, "gang partly placed", "gangs partly placed");
  add(broken.work_cut, "request cut by a decision", "requests cut by decisions");
  add(broken.jobs_restarted, "job restarted by a decision", "jobs restarted by decisions");
  add(broken.scale_downs_without_data, "scale-down without data", "scale-downs without data");
  add(broken.limit_exceeded, "limit exceeded", "limits exceeded");
  add(broken.not_repeatable, "decision not repeatable", "decisions not repeatable");
  add(broken.expired_group_holds, "node group kept longer than its hold time",
      "node groups kept longer than their hold time");
  add(broken.unobservable_values, "value read that no cluster could report",
      "values read that no cluster could report");
  add(broken.not_conserved, "total that does not add up", "totals that do not add up");
  add(broken.unsettled, "scaling action under a constant load", "scaling actions under a constant load");
  return text;
}

std::string cost_words(const RunResult& r) {
  return r.total_micro_usd() > 0 ? usd(r.total_micro_usd()) + " USD" : gpu_hours(r.paid_gpu_ns()) + " GPU-hours";
}

std::string time_and_price_words(const RunResult& r) {
  return r.simulated <= Duration{} ? "" : " in " + time_text(r.simulated) + price_words(r);
}

std::string price_words(MicroUsd per_hour) {
  if (per_hour.count == 0) return "";
  return fmt::format(" ({} USD/h, {} USD/month)", usd(per_hour.count), usd_per_month_text(per_hour));
}

std::string price_words(const RunResult& r) {
  if (r.simulated <= Duration{}) return "";
  return price_words(MicroUsd{per_hour_milli(r.total_micro_usd(), r.simulated) / 1000});
}

std::string cost_against(const RunResult& r, const RunResult& other) {
  const bool priced = r.total_micro_usd() > 0 && other.total_micro_usd() > 0;
  if (cost_words(r) == cost_words(other)) return "as much as";
  return priced ? difference_words(r.total_micro_usd(), other.total_micro_usd())
                : difference_words(r.paid_gpu_ns(), other.paid_gpu_ns());
}

std::string cost_against(MicroUsd price, MicroUsd other) {
  return usd(price.count) == usd(other.count) ? "as much as" : difference_words(price.count, other.count);
}

}  // namespace capstan::experiment
