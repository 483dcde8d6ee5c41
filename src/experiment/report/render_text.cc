#include "experiment/report/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/number_text.h"
#include "base/unit_text.h"
#include "experiment/report/clairvoyant_words.h"
#include "experiment/report/details.h"
#include "experiment/report/frontier.h"
#include "experiment/report/notes.h"
#include "experiment/report/result_words.h"
#include "experiment/report/services.h"
#include "experiment/report/sparklines.h"
#include "experiment/report/verdict.h"
#include "experiment/run/job_waits.h"
#include "experiment/run/ranking.h"
#include "experiment/text/layout.h"
#include "experiment/text/words.h"

namespace capstan::experiment {

namespace {

/// Least and greatest width of a policy's name in columns.
constexpr std::size_t kMinName = 12;
constexpr std::size_t kMaxName = 48;
constexpr const char* kAchievableName = "achievable with all requests known";

class Paint {
 public:
  explicit Paint(bool on) : on_(on) {}
  std::string bold(const std::string& text) const { return wrap("1", text); }
  std::string dim(const std::string& text) const { return wrap("2", text); }
  std::string good(const std::string& text) const { return wrap("32", text); }
  std::string bad(const std::string& text) const { return wrap("31", text); }

 private:
  std::string wrap(const char* code, const std::string& text) const {
    return on_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
  }
  bool on_;
};

/// Number of cells in the bar of a policy's paid GPU time. The states get cells in proportion to their GPU time.
constexpr std::size_t kBarCells = 10;
struct Band {
  const char* glyph;
  const char* word;
  std::array<GpuState, 2> states;
  std::size_t count;
};
constexpr std::array<Band, 5> kBands = {
    {{"█", "busy", {GpuState::busy, GpuState::busy}, 1},
     {"▒", "idle", {GpuState::idle, GpuState::sleeping}, 2},
     {"░", "starting", {GpuState::starting, GpuState::draining}, 2},
     {"▞", "held by partial gangs", {GpuState::held, GpuState::held}, 1},
     {"·", "launching or unallocated", {GpuState::launching, GpuState::unallocated}, 2}}};

std::string bar(const RunResult& result) {
  const GpuNanoseconds paid = result.paid_gpu_ns();
  if (paid <= 0) return std::string(kBarCells, ' ');
  // Rounding by largest remainders makes the cells add up to ten.
  std::array<std::int64_t, kBands.size()> cells{};
  std::array<std::pair<std::int64_t, std::size_t>, kBands.size()> rest{};
  std::int64_t given = 0;
  for (std::size_t b = 0; b < kBands.size(); ++b) {
    GpuNanoseconds time = 0;
    for (std::size_t s = 0; s < kBands[b].count; ++s)
      time += result.gpu_ns[static_cast<std::size_t>(kBands[b].states[s])];
    const auto permille = static_cast<std::int64_t>(time / std::max<GpuNanoseconds>(1, paid / 1000));
    cells[b] = permille / 100;
    rest[b] = {-(permille % 100), b};
    given += cells[b];
  }
  std::sort(rest.begin(), rest.end());
  for (std::size_t i = 0; given < static_cast<std::int64_t>(kBarCells); ++i, ++given)
    ++cells[rest[i % rest.size()].second];
  std::string text;
  for (std::size_t b = 0; b < kBands.size(); ++b) {
    for (std::int64_t i = 0; i < cells[b]; ++i) text += kBands[b].glyph;
  }
  return text;
}

std::string slo_words(const model::Slo& slo) {
  std::string text = fmt::format("SLO {}:", share_text(slo.attainment_ppm));
  const auto bound = [&](const char* name, Duration limit) {
    if (limit.count() > 0) text += fmt::format("{} {} ≤ {}", text.ends_with(':') ? "" : ",", name, time_text(limit));
  };
  bound("TTFT", slo.ttft);
  if (slo.scales_with_prompt()) text += fmt::format(" or {} times its prefill", tenths(slo.ttft_prefills_milli, 1000));
  bound("TPOT", slo.tpot);
  bound("end to end", slo.e2e);
  return text;
}

struct TableColumn {
  const char* head;
  std::size_t width;
  std::string (*cell)(const RunResult&);
};

constexpr std::size_t kColumnCount = 7;
using TableColumns = std::array<TableColumn, kColumnCount>;

/// The columns of the table. The text of `sim` and the JSON have all other figures.
const TableColumns kTableColumns = {{
    {"met", 8, [](const RunResult& r) { return share_text(r.attainment_ppm()); }},
    {"TTFT p99", 9, [](const RunResult& r) { return r.requests.completed > 0 ? seconds(r.ttft.p99_us) : "-"; }},
    {"GPU-h", 8, [](const RunResult& r) { return gpu_hours(r.paid_gpu_ns()); }},
    {"idle GPU-min", 13, [](const RunResult& r) { return grouped_text(idle_gpu_minutes(r)); }},
    {"USD", 10, [](const RunResult& r) { return usd(r.total_micro_usd()); }},
    {"unmet", 8, [](const RunResult& r) { return grouped_text(r.requests.unmet()); }},
    {"score", 6, [](const RunResult& r) { return tenths(r.score_milli(), 1000); }},
}};

/// The columns of the table if there are only jobs.
const TableColumns kJobColumns = {{
    {"done", 8, [](const RunResult& r) { return share_text(r.attainment_ppm()); }},
    {"wait p99", 10, [](const RunResult& r) { return clock(Instant{r.job_outcomes().wait_p99}); }},
    {"GPU-h", 9, [](const RunResult& r) { return gpu_hours(r.paid_gpu_ns()); }},
    {"idle GPU-min", 13, [](const RunResult& r) { return grouped_text(idle_gpu_minutes(r)); }},
    {"USD", 10, [](const RunResult& r) { return usd(r.total_micro_usd()); }},
    {"ended", 10,
     [](const RunResult& r) {
       const JobOutcomes jobs = r.job_outcomes();
       return grouped_text(jobs.ended) + "/" + grouped_text(jobs.arrived);
     }},
    {"score", 6, [](const RunResult& r) { return tenths(r.score_milli(), 1000); }},
}};

const TableColumns& columns_of(const Comparison& c) {
  return c.results.front().has_only_jobs() ? kJobColumns : kTableColumns;
}

constexpr std::size_t kBarAfter = 3;  ///< the bar of states follows this column

using Cells = std::array<std::string, kColumnCount>;

Cells cells_of(const TableColumns& table_columns, const RunResult& r) {
  Cells cells;
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = table_columns[i].cell(r);
  return cells;
}

/// Fits the table into the terminal. A column has at least its stated width, and a blank before its longest cell. In a
/// narrow terminal the bar is left out first, then names are cut.
struct Shape {
  std::size_t name = kMinName;
  std::array<std::size_t, kColumnCount> widths{};
  bool bar = true;

  Shape(const Comparison& c, std::size_t width) {
    for (std::size_t i = 0; i < kColumnCount; ++i) widths[i] = columns_of(c)[i].width;
    for (const RunResult& r : c.results) {
      if (shown(c, r)) widen(cells_of(columns_of(c), r));
    }
    if (c.constant_fleet) widen(cells_of(kTableColumns, c.constant_fleet->result));
    if (c.clairvoyant) widen(cells_of(kTableColumns, c.clairvoyant->achievable.result));
    for (const RunResult& r : c.results) name = std::max(name, columns(r.policy));
    if (c.constant_fleet) name = std::max(name, columns(c.constant_fleet->result.policy));
    if (c.clairvoyant) name = std::max({name, columns(lower_bound_name(c.slo)), columns(kAchievableName)});
    name = std::min(name, kMaxName);
    std::size_t numbers = 2;
    for (const std::size_t column : widths) numbers += column;
    bar = name + numbers + 2 + kBarCells <= width;
    if (!bar) name = std::clamp(width > numbers ? width - numbers : 0, kMinName, name);
  }

 private:
  void widen(const Cells& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], columns(cells[i]) + 1);
  }
};

/// Returns the cells of the lower bound, which has only a cost.
Cells cells_of(const Clairvoyant::LowerBound& bound) {
  Cells cells;
  cells.fill("-");
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string_view head = kTableColumns[i].head;
    if (head == "GPU-h") cells[i] = gpu_hours(bound.gpu_ns);
    if (head == "USD") cells[i] = usd(bound.micro_usd);
  }
  return cells;
}

/// Returns the rows below the policies: the best constant fleet, and the results with foresight.
std::string reference_rows(const Comparison& c, const Shape& shape, const Paint& paint) {
  const auto row = [&](const std::string& name, const Cells& cells, const std::string& states) {
    std::string line = "  " + pad_right(shortened_name(name, shape.name), shape.name);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      line += pad_left(cells[i], shape.widths[i]);
      if (i == kBarAfter && shape.bar) line += "  " + states;
    }
    return paint.dim(line) + "\n";
  };
  std::string rows;
  if (c.constant_fleet) {
    const RunResult& fleet = c.constant_fleet->result;
    rows += row(fleet.policy, cells_of(kTableColumns, fleet), bar(fleet));
  }
  if (c.clairvoyant) {
    const RunResult& achievable = c.clairvoyant->achievable.result;
    rows += row(lower_bound_name(c.slo), cells_of(c.clairvoyant->bound), std::string(kBarCells, ' ')) +
            row(kAchievableName, cells_of(kTableColumns, achievable), bar(achievable));
  }
  return rows;
}

std::string table(const Comparison& c, const Shape& shape, const Paint& paint, std::size_t width) {
  const RunResult* marked = c.results.size() > 1 ? marked_policy(c) : nullptr;
  const TableColumns& all = columns_of(c);
  std::string out = "  " + pad_right("policy", shape.name);
  for (std::size_t i = 0; i < kColumnCount; ++i) {
    out += pad_left(all[i].head, shape.widths[i]);
    if (i == kBarAfter && shape.bar) out += "  " + pad_right("GPU time", kBarCells);
  }
  out = paint.dim(out) + "\n";
  for (const RunResult& r : c.results) {
    if (!shown(c, r)) continue;
    std::string line = &r == marked ? "▶ " : "  ";
    line += pad_right(shortened_name(r.policy, shape.name), shape.name);
    const Cells cells = cells_of(all, r);
    for (std::size_t i = 0; i < kColumnCount; ++i) {
      std::string cell = pad_left(cells[i], shape.widths[i]);
      if (i == 0) cell = holds_slo(r, c.slo) ? paint.good(cell) : paint.bad(cell);
      line += cell;
      if (i == kBarAfter && shape.bar) line += "  " + bar(r);
    }
    out += (&r == marked ? paint.bold(line) : line) + "\n";
    // The tables below name the services whose SLO the first policy misses.
    const std::string missed = &r == &c.results.front() || !r.is_shared() ? "" : missed_services_words(r);
    if (!missed.empty()) out += paint.bad(wrapped("    ", "misses " + missed, width));
    const std::string by_chance = chance_row_words(c, r);
    if (!by_chance.empty()) out += paint.bad(wrapped("    ", by_chance, width));
    const std::string broken = broken_words(r);
    if (!broken.empty()) out += paint.bad(wrapped("    ", broken, width));
    for (const std::string& warning : r.warnings) out += paint.bad(wrapped("    warning: ", warning, width));
  }
  out += reference_rows(c, shape, paint);
  if (!shape.bar) return out;
  std::string legend = "  GPU time:";
  for (const Band& band : kBands) legend += fmt::format(" {} {}", band.glyph, band.word);
  return out + paint.dim(legend) + "\n";
}

std::string differences(const Comparison& c, std::size_t width) {
  std::string text;
  for (const std::string& sentence : differences_of_first(c)) {
    text += wrapped(text.empty() ? "why   " : "      ", sentence, width);
  }
  return text;
}

/// Returns true if the moment says that batch jobs waited. The weight of such a moment is GPU-minutes, so it cannot be
/// compared with the weights of other moments.
bool is_about_jobs(const Moment& moment) { return moment.reason == JobWaits::kReason; }

/// Returns the two moments with the largest weight; in a comparison, at most one moment of each policy. Adds the wait
/// of batch jobs with the largest weight, under the first policy that has one. All are in the order of time.
std::string moments(const Comparison& c, const std::string& first_label, std::size_t width) {
  struct OwnMoment {
    const Moment* moment;
    const RunResult* result;
  };
  std::vector<OwnMoment> all;
  std::optional<OwnMoment> of_jobs;
  for (const RunResult& r : c.results) {
    for (const Moment& m : r.moments) {
      if (!is_about_jobs(m)) all.push_back({&m, &r});
      if (is_about_jobs(m) && !of_jobs) of_jobs = OwnMoment{&m, &r};
    }
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, [](const OwnMoment& m) { return m.moment->weight; });
  std::vector<OwnMoment> chosen;
  for (const OwnMoment& candidate : all) {
    const bool same = std::ranges::any_of(chosen, [&](const OwnMoment& other) {
      return other.result == candidate.result || other.moment->sentence == candidate.moment->sentence;
    });
    if (!same || c.results.size() == 1) chosen.push_back(candidate);
    if (chosen.size() == 2) break;
  }
  if (of_jobs) chosen.push_back(*of_jobs);
  std::ranges::stable_sort(chosen, {}, [](const OwnMoment& m) { return m.moment->at; });
  std::string text;
  for (const auto& [moment, result] : chosen) {
    const std::string policy = c.results.size() > 1 ? fmt::format(" ({})", result->policy) : "";
    text +=
        wrapped((text.empty() ? first_label : "      ") + clock(moment->at) + "  ", moment->sentence + policy, width);
  }
  return text;
}

std::string header(const Comparison& c, const Paint& paint, std::size_t width) {
  const RunResult& best = c.results.front();
  const std::string arrived = best.has_only_jobs() ? count_text(best.job_outcomes().arrived, "job", "jobs")
                                                   : count_text(best.requests.arrived, "request", "requests");
  std::string first = wrapped(
      "", fmt::format("{} · {} · {} · {} · seed {}", c.title, time_text(best.simulated), arrived, c.load, c.seed),
      width);
  first.pop_back();
  Duration cold_start{};
  for (const RunResult& r : c.results) cold_start = std::max(cold_start, r.cold_start_p50);
  const char* label = c.results.size() > 1 ? " · slowest median cold start " : " · median cold start ";
  const std::string cold = cold_start.count() > 0 ? label + time_text(cold_start) : "";
  return paint.bold(first) + "\n" +
         wrapped("", fmt::format("{}{}{}", c.service, best.is_shared() ? "" : " · " + slo_words(c.slo), cold), width);
}

/// Returns the recommended minimum as arguments of the command; empty if there is none, or if they cannot state it.
std::string minimum_arguments(const Comparison& c) {
  std::string arguments;
  if (!c.raised_minimum) return arguments;
  for (const std::string& set : c.raised_minimum->sets) arguments += " --set " + shell_word(set);
  return arguments;
}

/// Returns the commands to run next.
std::string next_commands(const Comparison& c, const std::string& arguments) {
  const std::string& policy = c.results.front().policy;
  const std::string named = shell_word(policy) == policy ? '"' + policy + '"' : shell_word(policy);
  const std::string again = fmt::format("capstan sim {} --policy {}", arguments, named);
  if (c.results.size() == 1) return fmt::format("capstan compare {} · {} -o json", arguments, again);
  if (c.results.front().has_only_jobs()) return again;  // a plan needs a service
  const std::string minimum = minimum_arguments(c);
  const std::string changed = minimum.empty() ? "" : fmt::format("capstan compare {}{} · ", arguments, minimum);
  return changed + again + " · for manifests to deploy: capstan plan SPEC.yaml; capstan plan --example prints a spec";
}

}  // namespace

std::string render_text(const Comparison& c, const std::string& arguments, const RenderOptions& options) {
  if (c.results.empty()) return "";
  const Paint paint(options.color);
  const auto width = static_cast<std::size_t>(std::max(options.width, 1));
  const bool one = c.results.size() == 1;
  const Shape shape(c, width);
  std::string out = header(c, paint, width) + "\n" + table(c, shape, paint, width) + "\n";
  if (options.sparklines && !c.results.front().has_only_jobs()) out += sparklines(c, shape.name, width) + "\n";
  if (const std::string services =
          service_table(c.results.front(), width, options.all_rows ? TableRows::all : TableRows::worst);
      !services.empty()) {
    const char* users = c.results.front().has_only_jobs() ? "  jobs under " : "  services under ";
    out += (one ? "" : paint.dim(users + c.results.front().policy) + "\n") + services + "\n";
  }
  if (one) out += details(c.results.front(), width) + "\n";
  out += wrapped("", verdict_words(c), width);
  const std::string why = one ? "" : differences(c, width);
  out += why + moments(c, why.empty() ? "why   " : "      ", width);
  const bool swept = std::ranges::any_of(c.results, [](const RunResult& r) { return !r.swept_from.empty(); });
  if (!one && (options.frontier || swept)) out += frontier_words(c, width);
  if (c.clairvoyant) out += clairvoyant_words(c, width);
  for (const std::string& note : notes_on(c)) out += wrapped("note  ", note, width);
  return out + wrapped("next  ", next_commands(c, arguments), width);
}

}  // namespace capstan::experiment
