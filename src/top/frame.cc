#include "top/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/number_text.h"
#include "base/unit_text.h"
#include "experiment/text/layout.h"
#include "experiment/text/moment.h"
#include "experiment/text/words.h"
#include "explain/words.h"
#include "model/phase_names.h"

namespace capstan::top {
namespace {

using Phase = model::Gang::Phase;

constexpr std::size_t kMaxNodeBar = 16;
constexpr std::size_t kFleetBar = 40;
/// Largest number of rows for replicas that wait for the same reason. One further line counts the others.
constexpr std::size_t kMaxRowsPerReason = 3;

/// The name of a use of GPUs, and the character and style with which a bar shows it.
struct Mark {
  std::string_view words;
  std::string_view utf8;
  std::string_view ascii;
  TextStyle style;
};
/// One mark for each value of `GpuUse`, in the same order.
constexpr std::array<Mark, kGpuUses> kMarks = {{{"serving", "█", "#", TextStyle::good},
                                                {"starting", "░", "+", TextStyle::caution},
                                                {"held by a part of a replica", "▞", "%", TextStyle::bad},
                                                {"draining", "▒", "~", TextStyle::accent},
                                                {"sleeping", "▤", "z", TextStyle::accent},
                                                {"other workloads", "▓", "o", TextStyle::other},
                                                {"free", "·", ".", TextStyle::plain},
                                                {"stranded", "×", "x", TextStyle::bad},
                                                {"takes no pods", "-", "-", TextStyle::faint}}};

const Mark& mark(std::size_t use) { return kMarks[use]; }
std::string glyph(std::size_t use, const View& view) {
  return std::string(view.output.utf8 ? mark(use).utf8 : mark(use).ascii);
}

MilliGpu sum_of(const GpuUses& uses) {
  MilliGpu sum;
  for (const MilliGpu& part : uses) sum += part;
  return sum;
}

/// Returns a bar of `cells` characters. Each cell stands for an equal part of the GPUs, in the order of `GpuUse`, and
/// shows the use of the GPU in the middle of its part.
Spans bar(const GpuUses& uses, std::size_t cells, const View& view) {
  const std::int64_t all = sum_of(uses).count;
  Spans spans;
  std::size_t use = 0, last = kGpuUses;
  std::int64_t end = uses[0].count;
  for (std::size_t i = 0; i < cells && all > 0; ++i) {
    const std::int64_t middle = (2 * static_cast<std::int64_t>(i) + 1) * all;
    while (use + 1 < kGpuUses && middle >= 2 * static_cast<std::int64_t>(cells) * end) end += uses[++use].count;
    if (use != last) spans.push_back({"", mark(use).style});
    spans.back().text += glyph(use, view);
    last = use;
  }
  return spans;
}

/// Returns a time without fractions of a second.
std::string time_words(Duration time) { return time_text(std::chrono::seconds(whole_seconds(time))); }

Spans text(std::string words, TextStyle style = TextStyle::plain) {
  if (words.empty()) return {};
  return {{plain(words), style}};
}
Spans number(std::int64_t n, TextStyle style = TextStyle::plain) {
  return {{grouped_text(n), n == 0 ? TextStyle::faint : style}};
}

std::string node_words(const Sums& sums) {
  std::string words = count_text(sums.nodes, "node", "nodes");
  if (sums.launching > 0) words += fmt::format(", {} on the way", sums.launching);
  if (sums.leaving > 0) words += fmt::format(", {} leaving", sums.leaving);
  return words;
}

std::string gpu_words(const Sums& sums) {
  using explain::gpus_text;
  const MilliGpu all = sum_of(sums.uses);
  return fmt::format("{} {}: {} held, {} free, {} stranded", gpus_text(all), all == whole_gpus(1) ? "GPU" : "GPUs",
                     gpus_text(allocated(sums.uses)), gpus_text(at(sums.uses, GpuUse::free)),
                     gpus_text(at(sums.uses, GpuUse::stranded)));
}

std::string price_words(const Sums& sums) {
  if (sums.unpriced > 0 && sums.unpriced == sums.nodes) return "price unknown";
  std::string words = fmt::format("{}, {} USD a month", explain::price_text(sums.per_hour),
                                  grouped_text(sums.per_hour.count * kHoursPerMonth / 1'000'000));
  if (sums.unpriced > 0) words += " and " + count_text(sums.unpriced, "node", "nodes") + " without a known price";
  return words;
}

/// Returns the lines above the tables.
std::vector<std::string> head(const Facts& facts, const View& view) {
  std::vector<std::string> lines;
  Spans title;
  for (const std::string& part : {view.source, facts.policy, experiment::moment_words(facts.at)}) {
    if (part.empty()) continue;
    if (!title.empty()) title.push_back({" · "});
    title.push_back({plain(part), title.empty() ? TextStyle::strong : TextStyle::plain});
  }
  if (!view.state.empty()) title.push_back({" · " + view.state, TextStyle::caution});
  lines.push_back(line(title, view.output));
  if (!view.notice.empty()) {
    for (std::string row : {experiment::wrapped_lines(plain(view.notice), view.output.width)}) {
      while (!row.empty()) {
        const std::size_t end = row.find('\n');
        lines.push_back(line({{row.substr(0, end), TextStyle::bad}}, view.output));
        row.erase(0, end + 1);
      }
    }
  }
  const Sums& sums = facts.totals;
  const std::string fleet = node_words(sums) + " · " + gpu_words(sums);
  const std::string price = price_words(sums);
  if (experiment::columns(fleet) + 3 + experiment::columns(price) <= view.output.width) {
    lines.push_back(line({{fleet + " · "}, {price, TextStyle::strong}}, view.output));
  } else {
    lines.push_back(line({{fleet}}, view.output));
    lines.push_back(line({{price, TextStyle::strong}}, view.output));
  }
  const auto words = [](const char* noun, const Sums::Gangs& gangs) {
    return fmt::format("{}: {} ready, {} starting, {} waiting", noun, gangs.ready, gangs.starting, gangs.waiting);
  };
  std::string replicas = words("replicas", sums.replicas);
  if (sums.others.all() > 0) {
    replicas += (view.output.utf8 ? " · " : " - ") + words("gangs of no service", sums.others);
  }
  const std::size_t room = view.output.width - std::min(view.output.width, replicas.size() + 2);
  Spans third = bar(sums.uses, std::min(kFleetBar, room), view);
  if (!third.empty()) third.push_back({"  "});
  third.push_back({replicas});
  lines.push_back(line(third, view.output));
  return lines;
}

void append(std::vector<std::string>& lines, std::vector<std::string> more) {
  lines.insert(lines.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::string share_words(std::int64_t late_ppm, std::int64_t allowed_ppm) {
  return fmt::format("{} / {}", percent_text(late_ppm), percent_text(allowed_ppm));
}

Spans money(MicroUsd amount) { return {{experiment::usd(amount.count)}}; }

void add_services(std::vector<std::string>& lines, const Facts& facts, const View& view) {
  if (facts.services.empty()) return;
  Table table({{"SERVICE", false, 9},
               {"wanted", true, 8},
               {"ready", true, 8},
               {"starting", true, 7},
               {"waiting", true, 7},
               {"draining", true, 4},
               {"sleeping", true, 3},
               {"requests waiting", true, 5},
               {"late / allowed", true, 6},
               {"TTFT p99", true, 3},
               {"GPUs", true, 2},
               {"USD/h", true, 5},
               {"why", false, 1}});
  for (const ServiceFacts& service : facts.services) {
    const explain::ReplicaStates& replicas = service.replicas;
    const bool is_short = replicas.ready < service.desired;
    const bool is_late = service.late_ppm && *service.late_ppm > service.late_allowed_ppm;
    table.add({text(service.name), number(service.desired),
               number(replicas.ready, is_short ? TextStyle::caution : TextStyle::good),
               number(replicas.starting, TextStyle::caution), number(replicas.pending, TextStyle::bad),
               number(replicas.draining, TextStyle::accent),
               replicas.sleeping > 0 ? number(replicas.sleeping) : Spans{},
               service.waiting ? number(*service.waiting) : text("unknown", TextStyle::faint),
               service.late_ppm ? text(share_words(*service.late_ppm, service.late_allowed_ppm),
                                       is_late ? TextStyle::bad : TextStyle::plain)
                                : text("unknown", TextStyle::faint),
               service.ttft_p99_us ? text(experiment::seconds(*service.ttft_p99_us)) : Spans{},
               text(explain::gpus_text(replicas.held.gpus)),
               replicas.held.per_hour > MicroUsd{} ? money(replicas.held.per_hour) : Spans{},
               text(service.why, TextStyle::faint)});
  }
  lines.emplace_back();
  append(lines, table.lines(view.output));
}

TextStyle style_of(Phase phase) {
  switch (phase) {
    case Phase::pending:
      return TextStyle::bad;
    case Phase::starting:
      return TextStyle::caution;
    case Phase::ready:
      return TextStyle::good;
    case Phase::draining:
    case Phase::sleeping:
      return TextStyle::accent;
  }
  return TextStyle::plain;
}

std::string phase_words(const ReplicaFacts& replica) {
  if (replica.phase == Phase::pending) return "waiting";
  std::string words(model::kGangPhaseNames[static_cast<std::size_t>(replica.phase)]);
  if (replica.ready_in && *replica.ready_in > Duration{}) words += ", ready in " + time_words(*replica.ready_in);
  if (replica.ready_in && *replica.ready_in == Duration{}) words += ", overdue";
  return words;
}

/// Returns the reason of a replica that waits, with the change that would help, in lines of their own.
std::vector<std::string> limit_lines(const explain::Limit& limit, const View& view) {
  std::string words;
  if (limit.layer != explain::Layer::none) words = std::string(explain::name(limit.layer)) + ": ";
  words += limit.text;
  if (!limit.change.empty()) words += "; " + limit.change;
  std::vector<std::string> lines;
  std::string rows = experiment::wrapped("    ", plain(words), view.output.width);
  while (!rows.empty()) {
    const std::size_t end = rows.find('\n');
    lines.push_back(line({{rows.substr(0, end), TextStyle::faint}}, view.output));
    rows.erase(0, end + 1);
  }
  return lines;
}

/// All replicas that wait for one reason, or a single replica that does not wait.
using ReplicaGroup = std::vector<const ReplicaFacts*>;

/// Returns the ready replicas if `ready` is true, otherwise all other replicas, in the order of the facts. Replicas
/// that wait for the same reason form one entry, at the position of the first of them.
std::vector<ReplicaGroup> grouped_replicas(const Facts& facts, bool ready) {
  std::vector<ReplicaGroup> all;
  std::map<std::tuple<explain::Layer, std::string, std::string>, std::size_t> known;
  for (const ReplicaFacts& replica : facts.replicas) {
    if ((replica.phase == Phase::ready) != ready) continue;
    std::size_t place = all.size();
    if (replica.phase == Phase::pending) {
      const explain::Limit& limit = replica.limit;
      place = known.try_emplace({limit.layer, limit.text, limit.change}, place).first->second;
    }
    if (place == all.size()) all.emplace_back();
    all[place].push_back(&replica);
  }
  return all;
}

/// Adds a table of the ready replicas if `ready` is true, otherwise of all other replicas.
void add_replicas(std::vector<std::string>& lines, const Facts& facts, bool ready, const View& view) {
  Table table({{ready ? "READY REPLICA" : "REPLICA", false, 9},
               {"state", false, 8},
               {"pods", true, 7},
               {"GPUs", true, 5},
               {"GPU", false, 2},
               {"age", true, 4},
               {"nodes", false, 6}});
  const std::vector<ReplicaGroup> all = grouped_replicas(facts, ready);
  if (all.empty()) return;
  for (const ReplicaGroup& alike : all) {
    for (const ReplicaFacts* replica : std::span(alike).first(std::min(alike.size(), kMaxRowsPerReason))) {
      const bool whole = replica->bound == replica->pods;
      table.add(
          {text(replica->name), ready ? Spans{} : text(phase_words(*replica), style_of(replica->phase)),
           text(whole ? fmt::format("{}", replica->pods) : fmt::format("{} of {}", replica->bound, replica->pods)),
           text(explain::gpus_text(replica->gpus)), text(replica->gpu), text(time_words(replica->age)),
           text(replica->nodes)});
    }
  }
  lines.emplace_back();
  std::vector<std::string> rows = table.lines(view.output);
  lines.push_back(std::move(rows.front()));
  std::size_t row = 1;
  for (const ReplicaGroup& alike : all) {
    for (std::size_t i = 0; i < std::min(alike.size(), kMaxRowsPerReason); ++i) lines.push_back(std::move(rows[row++]));
    if (alike.size() > kMaxRowsPerReason) {
      const auto others = static_cast<std::int64_t>(alike.size() - kMaxRowsPerReason);
      lines.push_back(
          line({{"  " + count_text(others, "more waits", "more wait") + " for the same reason"}}, view.output));
    }
    if (alike.front()->phase == Phase::pending) append(lines, limit_lines(alike.front()->limit, view));
  }
}

std::vector<const NodeFacts*> sorted_nodes(const Facts& facts, NodeOrder sort) {
  std::vector<const NodeFacts*> nodes;
  for (const NodeFacts& node : facts.nodes) nodes.push_back(&node);
  const auto key = [sort](const NodeFacts* node) -> std::int64_t {
    switch (sort) {
      case NodeOrder::id:
        return 0;
      case NodeOrder::free:
        return -at(node->uses, GpuUse::free).count - at(node->uses, GpuUse::stranded).count;
      case NodeOrder::price:
        return node->per_hour ? -node->per_hour->count : 1;
      case NodeOrder::age:
        return node->age.count();
    }
    return 0;
  };
  std::ranges::stable_sort(nodes, {}, key);
  return nodes;
}

Spans node_state(const NodeFacts& node) {
  using State = NodeFacts::State;
  if (!node.reason.empty()) return text("given back: " + node.reason, TextStyle::accent);
  switch (node.state) {
    case State::ready:
      return {};
    case State::cordoned:
      return text("cordoned", TextStyle::accent);
    case State::terminating:
      return text("terminating", TextStyle::accent);
    case State::launching:
      if (!node.ready_in) return text("launching", TextStyle::caution);
      if (*node.ready_in == Duration{}) return text("launching, overdue", TextStyle::caution);
      return text("launching, ready in " + time_words(*node.ready_in), TextStyle::caution);
  }
  return {};
}

void add_nodes(std::vector<std::string>& lines, const Facts& facts, const View& view) {
  if (facts.nodes.empty()) return;
  Table table({{"NODE", false, 9},
               {"GPUs", false, 8},
               {"held", true, 8},
               {"pods", true, 2},
               {"GPU", false, 4},
               {"type", false, 5},
               {"zone", false, 5},
               {"capacity", false, 5},
               {"USD/h", true, 6},
               {"age", true, 3},
               {"state", false, 7}});
  for (const NodeFacts* node : sorted_nodes(facts, view.sort)) {
    const MilliGpu all = sum_of(node->uses);
    const std::size_t cells = std::min(kMaxNodeBar, static_cast<std::size_t>(gpus_up(all)));
    table.add({text(node->name), bar(node->uses, cells, view),
               text(fmt::format("{} of {}", explain::gpus_text(allocated(node->uses)), explain::gpus_text(all))),
               number(node->pods), text(node->gpu), text(node->instance_type), text(node->zone), text(node->capacity),
               node->per_hour ? money(*node->per_hour) : text("unknown", TextStyle::faint), text(time_words(node->age)),
               node_state(*node)});
  }
  lines.emplace_back();
  append(lines, table.lines(view.output));
  Spans legend;
  GpuUses all{};
  for (const NodeFacts& node : facts.nodes) {
    for (std::size_t i = 0; i < kGpuUses; ++i) all[i] += node.uses[i];
  }
  for (std::size_t i = 0; i < kGpuUses; ++i) {
    if (all[i] == MilliGpu{}) continue;
    if (!legend.empty()) legend.push_back({"  "});
    legend.push_back({glyph(i, view), mark(i).style});
    legend.push_back({fmt::format(" {}", mark(i).words), TextStyle::faint});
  }
  lines.push_back(line(legend, view.output));
}

std::vector<std::string> body(const Facts& facts, const View& view) {
  std::vector<std::string> lines;
  add_services(lines, facts, view);
  add_replicas(lines, facts, false, view);
  add_nodes(lines, facts, view);
  add_replicas(lines, facts, true, view);
  return lines;
}

/// Returns the number of table lines that fit below the head into the height of the view.
std::size_t room(const View& view, std::size_t head_lines) {
  const std::size_t fixed = head_lines + (view.takes_keys ? 1 : 0);
  return view.height > fixed ? view.height - fixed : 0;
}

}  // namespace

std::string_view name(NodeOrder sort) {
  constexpr std::array<std::string_view, kNodeOrders> kNames = {"id", "free", "price", "age"};
  return kNames[static_cast<std::size_t>(sort)];
}

std::size_t max_scroll(const Facts& facts, const View& view) {
  const std::size_t lines = body(facts, view).size();
  const std::size_t shown = room(view, head(facts, view).size());
  return view.height == 0 || lines <= shown ? 0 : lines - shown;
}

std::string frame(const Facts& facts, const View& view) {
  std::vector<std::string> lines = head(facts, view);
  std::vector<std::string> tables = body(facts, view);
  std::string place;
  if (view.height > 0) {
    const std::size_t shown = room(view, lines.size());
    const std::size_t from = std::min(view.scroll, tables.size() - std::min(shown, tables.size()));
    const std::size_t to = std::min(tables.size(), from + shown);
    if (from > 0 || to < tables.size()) place = fmt::format("lines {} to {} of {}", from + 1, to, tables.size());
    tables.erase(tables.begin() + static_cast<std::ptrdiff_t>(to), tables.end());
    tables.erase(tables.begin(), tables.begin() + static_cast<std::ptrdiff_t>(from));
    tables.resize(view.takes_keys ? shown : tables.size());
  }
  append(lines, std::move(tables));
  if (view.takes_keys) {
    const std::string keys = fmt::format("q quit  p pause  s sort: {}  arrows scroll  {}", name(view.sort), place);
    lines.push_back(line({{keys, TextStyle::faint}}, view.output));
  }
  if (view.height > 0 && lines.size() > view.height) lines.resize(view.height);
  std::string out;
  for (const std::string& one : lines) out += one + "\n";
  return out;
}

}  // namespace capstan::top
