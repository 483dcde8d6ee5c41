#include "experiment/report/details.h"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "base/number_text.h"
#include "base/unit_text.h"
#include "experiment/report/spending.h"
#include "experiment/text/layout.h"
#include "experiment/text/words.h"
#include "model/role_names.h"

namespace capstan::experiment {

namespace {

constexpr std::size_t kLabel = 14;   // columns for a row's name
constexpr std::size_t kNumber = 10;  // columns for a number

std::string row(const std::string& label, const std::vector<std::string>& cells) {
  std::string line = "  " + pad_right(label, kLabel);
  for (const std::string& cell : cells) line += columns(cell) < kNumber ? pad_left(cell, kNumber) : " " + cell;
  return line + "\n";
}

std::string share(GpuNanoseconds part, GpuNanoseconds whole) {
  const auto percent_us = static_cast<std::int64_t>(whole / 1000 / 100);
  return percent_us <= 0 ? "-" : tenths(static_cast<std::int64_t>(part / 1000), percent_us) + " %";
}

std::string gpu_rows(const RunResult& r) {
  const GpuNanoseconds paid = r.paid_gpu_ns();
  std::string text = row("GPU time", {"GPU-h", "share", "USD"});
  for (std::size_t s = 0; s < kGpuStates; ++s) {
    if (static_cast<GpuState>(s) == GpuState::sleeping && r.gpu_ns[s] == 0) continue;
    text += row("  " + std::string(name(static_cast<GpuState>(s))),
                {gpu_hours(r.gpu_ns[s]), share(r.gpu_ns[s], paid), usd(r.cost_micro_usd[s])});
  }
  text += row("  paid", {gpu_hours(paid), share(paid, paid), usd(r.total_micro_usd())});
  return text + row("  least needed", {gpu_hours(r.useful_gpu_ns), share(r.useful_gpu_ns, paid)});
}

std::string latency_rows(const RunResult& r) {
  if (r.requests.completed == 0) return "";
  const auto cells = [](const Percentiles& p, std::string (*words)(std::int64_t)) {
    return std::vector<std::string>{words(p.mean_us), words(p.p50_us), words(p.p90_us), words(p.p95_us),
                                    words(p.p99_us)};
  };
  return row("latency", {"mean", "p50", "p90", "p95", "p99"}) + row("  TTFT", cells(r.ttft, seconds)) +
         row("  TPOT", cells(r.tpot, milliseconds)) + row("  end to end", cells(r.e2e, seconds));
}

std::string cost_rows(const RunResult& r, std::size_t width) {
  std::string text;
  const auto line = [&](const char* label, const std::string& words) {
    if (!words.empty()) text += wrapped("  " + pad_right(label, kLabel), words, width);
  };
  std::string per;
  if (const auto price = r.micro_usd_per_1000_met()) per = usd(*price) + " USD per 1,000 met requests";
  if (const auto price = r.micro_usd_per_million_tokens()) {
    per += (per.empty() ? "" : " · ") + usd(*price) + " USD per million answer tokens";
  }
  std::int64_t of_jobs = 0;
  for (const JobFigures& job_class : r.jobs) of_jobs += job_class.micro_usd;
  if (!per.empty() && of_jobs > 0) per += fmt::format(", without the {} USD of jobs", usd(of_jobs));
  line("cost", per);
  for (const SpendingKey key : kSpendingKeys) {
    const std::vector<SpendingSum> sums = spending_by(r, key);
    if (sums.size() < 2) continue;
    std::string words;
    for (const SpendingSum& sum : sums) {
      words += fmt::format("{}{} {} USD", words.empty() ? "" : " · ", sum.name, usd(sum.micro_usd));
    }
    line(spending_label(key), words);
  }
  return text;
}

/// A number with its word, such as "1,204 late" or "1 retry". `one` and `many` are equal if the word does not change.
struct Figure {
  std::int64_t number;
  const char* one;
  const char* many;
  Figure(std::int64_t n, const char* word) : number(n), one(word), many(word) {}
  Figure(std::int64_t n, const char* single, const char* several) : number(n), one(single), many(several) {}
};

/// Returns "prefill 2 ready at the peak, 1.4 on average".
std::string role_rows(const RunResult& r, std::size_t width) {
  std::string text;
  for (const RoleFigures& figures : r.roles) {
    text += fmt::format("{}{} {} ready at the peak, {} on average", text.empty() ? "" : " · ",
                        figures.variant.empty() ? model::name(figures.role) : std::string_view(figures.variant),
                        grouped_text(figures.ready_peak), tenths(figures.ready_mean_milli(r.minutes.size()), 1000));
  }
  if (text.empty()) return "";
  const char* label = r.roles.front().variant.empty() ? "roles" : "variants";
  return wrapped("  " + pad_right(label, kLabel), text, width);
}

std::string figures(const char* label, const std::vector<Figure>& all, std::size_t width, std::string rest = "") {
  std::string text;
  for (const Figure& f : all) text += (text.empty() ? "" : " · ") + count_text(f.number, f.one, f.many);
  return wrapped("  " + pad_right(label, kLabel), text + rest, width);
}

/// Returns the requests and the tokens by outcome.
std::string request_rows(const RunResult& r, std::size_t width) {
  const RequestFigures& q = r.requests;
  std::string text = figures("requests",
                             {{q.arrived, "arrived"},
                              {q.met, "met"},
                              {q.late(), "late"},
                              {q.rejected, "rejected"},
                              {q.failed, "failed"},
                              {q.timed_out, "timed out"},
                              {q.in_flight, "in flight"},
                              {q.queued, "queued"},
                              {q.retries, "retry", "retries"}},
                             width);
  text += figures("prompt tokens", {{r.prompt_tokens, "completed"}, {r.cached_tokens, "of them cached"}}, width);
  text += figures("answer tokens",
                  {{r.tokens.generated, "generated"},
                   {r.tokens.delivered, "delivered"},
                   {r.tokens.cut, "cut"},
                   {r.tokens.abandoned, "abandoned"},
                   {r.tokens.held, "under way"}},
                  width);
  return text;
}

/// Returns what happened to replicas: starts and changes of role.
std::string replica_rows(const RunResult& r, std::size_t width) {
  const std::string starts = r.cold_starts == 0 ? ""
                                                : fmt::format(", median {}, the longest {}",
                                                              time_text(r.cold_start_p50), time_text(r.cold_start_max));
  std::string changes = r.wakes == 0 ? "" : " · " + count_text(r.wakes, "woken", "woken");
  if (r.conversions > 0) changes += " · " + count_text(r.conversions, "change of role", "changes of role");
  return figures("replicas",
                 {{r.replicas_peak, "ready at the peak"},
                  {r.gangs_deferred, "gang waited for GPUs", "gangs waited for GPUs"},
                  {r.cold_starts, "cold start", "cold starts"}},
                 width, starts + changes) +
         role_rows(r, width);
}

std::string disruption_rows(const RunResult& r, std::size_t width) {
  const DisruptionFigures& d = r.disruptions;
  return figures("disruptions",
                 {{d.consolidation, "by consolidation"},
                  {d.scale_down, "by scale-down"},
                  {d.eviction, "by eviction"},
                  {d.spot, "by spot"},
                  {d.requests_cut, "request cut", "requests cut"},
                  {d.requests_cut_forced, "of them by spot"}},
                 width);
}

}  // namespace

std::string details(const RunResult& r, std::size_t width) {
  std::string text = gpu_rows(r) + cost_rows(r, width) + latency_rows(r);
  if (!r.has_only_jobs()) text += request_rows(r, width) + replica_rows(r, width);
  text += figures(
      "nodes", {{r.nodes_launched, "launched"}, {r.nodes_refused, "refused"}, {r.nodes_released, "released"}}, width);
  if (!r.has_only_jobs()) text += disruption_rows(r, width);  // the table of lost work has the restarts of jobs
  return text +
         figures("decisions", {{r.decisions, "action", "actions"}, {r.reversals, "reversal", "reversals"}}, width);
}

}  // namespace capstan::experiment
