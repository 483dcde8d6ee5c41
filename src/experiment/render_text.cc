#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "experiment/render.h"
#include "experiment/words.h"

namespace capstan::experiment {

namespace {

/// Columns of the policy's name, at least and at most.
constexpr std::size_t kNameLeast = 12;
constexpr std::size_t kNameMost = 48;

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

/// The bar of a policy's paid GPU time: ten cells, each the state that fills most of it, in the order of the head.
constexpr std::size_t kBarCells = 10;
struct Band {
  const char* glyph;
  const char* word;
  std::array<GpuState, 2> states;
  std::size_t count;
};
constexpr std::array<Band, 5> kBands = {{{"█", "busy", {GpuState::busy, GpuState::busy}, 1},
                                         {"▒", "idle", {GpuState::idle, GpuState::sleeping}, 2},
                                         {"░", "starting", {GpuState::starting, GpuState::draining}, 2},
                                         {"▞", "held", {GpuState::held, GpuState::held}, 1},
                                         {"·", "empty", {GpuState::launching, GpuState::unallocated}, 2}}};

std::string bar(const RunResult& result) {
  const std::int64_t paid = result.paid_gpu_ns();
  if (paid <= 0) return std::string(kBarCells, ' ');
  // Largest remainders: cells add up to ten, and the bigger share gets the cell.
  std::array<std::int64_t, kBands.size()> cells{};
  std::array<std::pair<std::int64_t, std::size_t>, kBands.size()> rest{};
  std::int64_t given = 0;
  for (std::size_t b = 0; b < kBands.size(); ++b) {
    std::int64_t time = 0;
    for (std::size_t s = 0; s < kBands[b].count; ++s)
      time += result.gpu_ns[static_cast<std::size_t>(kBands[b].states[s])];
    const std::int64_t permille = time / std::max<std::int64_t>(1, paid / 1000);
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
  std::string text = fmt::format("SLO {} %:", tenths(slo.attainment_ppm, 10'000));
  const auto bound = [&](const char* name, Duration limit) {
    if (limit.count() > 0) text += fmt::format("{} {} ≤ {}", text.ends_with(':') ? "" : ",", name, time_words(limit));
  };
  bound("TTFT", slo.ttft);
  bound("TPOT", slo.tpot);
  bound("end to end", slo.e2e);
  return text;
}

std::string pad_right(const std::string& text, std::size_t width) {
  const std::size_t have = columns(text);
  return have >= width ? text : text + std::string(width - have, ' ');
}

std::string pad_left(const std::string& text, std::size_t width) {
  const std::size_t have = columns(text);
  return have >= width ? text : std::string(width - have, ' ') + text;
}

struct Column {
  const char* head;
  std::size_t width;
  std::string (*cell)(const RunResult&);
};

/// No column that nobody asks about: all others are in the JSON.
const std::array<Column, 7> kColumns = {{
    {"met", 8, [](const RunResult& r) { return tenths(r.attainment_ppm(), 10'000) + " %"; }},
    {"TTFT p99", 9, [](const RunResult& r) { return seconds(r.ttft.p99_us); }},
    {"GPU-h", 8, [](const RunResult& r) { return gpu_hours(r.paid_gpu_ns()); }},
    {"idle GPU-min", 13, [](const RunResult& r) { return grouped(idle_gpu_minutes(r)); }},
    {"USD", 10, [](const RunResult& r) { return usd(r.total_micro_usd()); }},
    {"unmet", 8, [](const RunResult& r) { return grouped(r.requests.unmet()); }},
    {"score", 6, [](const RunResult& r) { return tenths(r.score_milli(), 1000); }},
}};

void table(std::string& out, const Comparison& c, const Paint& paint) {
  std::size_t name_width = kNameLeast;
  for (const RunResult& r : c.results) name_width = std::max(name_width, columns(r.policy));
  name_width = std::min(name_width, kNameMost);
  std::string head = "  " + pad_right("policy", name_width);
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    head += pad_left(kColumns[i].head, kColumns[i].width);
    if (i == 3) head += "  " + pad_right("GPU time", kBarCells);
  }
  out += paint.dim(head) + "\n";
  for (std::size_t row = 0; row < c.results.size(); ++row) {
    const RunResult& r = c.results[row];
    std::string line =
        (row == 0 && c.results.size() > 1 ? "▶ " : "  ") + pad_right(shortened(r.policy, kNameMost), name_width);
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      std::string cell = pad_left(kColumns[i].cell(r), kColumns[i].width);
      if (i == 0) cell = r.attainment_ppm() >= c.slo.attainment_ppm ? paint.good(cell) : paint.bad(cell);
      line += cell;
      if (i == 3) line += "  " + bar(r);
    }
    out += (row == 0 ? paint.bold(line) : line) + "\n";
    const std::string broken = broken_words(r);
    if (!broken.empty()) out += "    " + paint.bad(broken) + "\n";
  }
  std::string legend = "  GPU time:";
  for (const Band& band : kBands) legend += fmt::format(" {} {}", band.glyph, band.word);
  out += paint.dim(legend) + "\n";
}

void wrapped(std::string& out, const std::string& label, const std::string& text, int width) {
  const auto room = static_cast<std::size_t>(std::max(width, 40));
  std::string line = label;
  const std::string indent(columns(label), ' ');
  std::string_view rest = text;
  bool first = true;
  while (!rest.empty()) {
    const std::size_t space = rest.find(' ');
    const std::string word(rest.substr(0, space));
    rest.remove_prefix(space == rest.npos ? rest.size() : space + 1);
    if (!first && columns(line) + 1 + columns(word) > room) {
      out += line + "\n";
      line = indent + word;
    } else {
      line += (first ? "" : " ") + word;
    }
    first = false;
  }
  out += line + "\n";
}

/// The two most telling moments of all policies, in the order of time, each from another policy where possible.
void why(std::string& out, const Comparison& c, int width) {
  struct Told {
    const Moment* moment;
    const RunResult* of;
  };
  std::vector<Told> all;
  for (const RunResult& r : c.results) {
    for (const Moment& m : r.moments) all.push_back({&m, &r});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Told& a, const Told& b) { return a.moment->weight > b.moment->weight; });
  std::vector<Told> told;
  for (const Told& t : all) {
    const bool same = std::any_of(told.begin(), told.end(), [&](const Told& o) {
      return o.of == t.of || o.moment->sentence == t.moment->sentence;
    });
    if (!same || c.results.size() == 1) told.push_back(t);
    if (told.size() == 2) break;
  }
  std::stable_sort(told.begin(), told.end(), [](const Told& a, const Told& b) { return a.moment->at < b.moment->at; });
  for (std::size_t i = 0; i < told.size(); ++i) {
    std::string text = told[i].moment->sentence;
    if (c.results.size() > 1) text += fmt::format(" ({})", told[i].of->policy);
    wrapped(out, fmt::format("{}{}  ", i == 0 ? "why   " : "      ", clock(told[i].moment->at)), text, width);
  }
}

}  // namespace

std::string render_text(const Comparison& c, const std::string& scenario_file, const RenderOptions& options) {
  const Paint paint(options.color);
  std::string out;
  if (c.results.empty()) return out;
  const RunResult& best = c.results.front();
  out += paint.bold(fmt::format("{} · {} · {} requests · {} · seed {}", c.title, time_words(best.simulated, 2),
                                grouped(best.requests.arrived), c.load, c.seed)) +
         "\n";
  Duration cold_start{};
  for (const RunResult& r : c.results) cold_start = std::max(cold_start, r.cold_start_p50);
  out += fmt::format("{} · {}{}\n\n", c.service, slo_words(c.slo),
                     cold_start.count() > 0 ? " · cold start " + time_words(cold_start, 2) : "");
  table(out, c, paint);
  out += "\n";
  wrapped(out, "", verdict_words(c), options.width);
  why(out, c, options.width);
  const std::string again = fmt::format("capstan sim {} --policy \"{}\" -o json", scenario_file, best.policy);
  wrapped(out, "next  ", c.results.size() > 1 ? again : fmt::format("capstan compare {} · {}", scenario_file, again),
          options.width);
  return out;
}

}  // namespace capstan::experiment
