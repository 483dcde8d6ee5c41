#include "plan/render/key_figures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace capstan::plan {

namespace {

constexpr std::size_t kNamesOfSeveralServices = 2;
constexpr std::size_t kWatchedMost = 6;  ///< metrics that the block on monitoring names

/// The part of a section that stands on the page. A name matches if it is the statement's name, its end after the name
/// of a service or role, or its beginning before the name of a pool.
struct SectionFigures {
  std::string_view key{};
  std::size_t skipped = 0;                  ///< first sentences of the answer that repeat another line of the page
  std::size_t sentences = 1;                ///< of the answer, after the skipped ones
  std::array<std::string_view, 6> names{};  ///< a plan with several services shows the first two
};
constexpr std::array kSectionFigures = {
    SectionFigures{"nodes", 0, 1, {"GPU limit of", "capacity of", "node group", "price of"}},
    SectionFigures{"gangs", 0, 1, {"topology", "quota of", "preemption"}},
    SectionFigures{"replicas",
                   0,
                   0,
                   {"signal", "deciding threshold", "waiting per replica", "KV memory per replica",
                    "in flight per replica", "constant fleet stays the cheapest"}},
    SectionFigures{"warm_pool", 0, 2, {"minimum by formula", "longest simulated cold start", "balloon"}},
    SectionFigures{"sharing", 0, 1, {"GPUs of a replica of"}},
    SectionFigures{"workload", 0, 0, {"startup probe", "grace period", "pod"}},
    SectionFigures{"cost", 1, 1, {"million answer tokens", "idle GPUs", "consolidation trap", "serverless"}},
    SectionFigures{"proof", 0, 0, {"goodput"}},
    SectionFigures{"monitoring", 1, 1, {}},
};

/// Returns some sentences of a text, without those before them.
std::string sentences_of(std::string_view text, std::size_t skipped, std::size_t number) {
  std::string out;
  for (std::size_t i = 0; i < skipped + number && !text.empty(); ++i) {
    const std::size_t end = text.find(". ");
    const std::string_view sentence = text.substr(0, end == text.npos ? end : end + 1);
    if (i >= skipped) out += (out.empty() ? "" : " ") + std::string(sentence);
    text.remove_prefix(end == text.npos ? text.size() : end + 2);
  }
  return out;
}

/// Returns true if a text is the name of a service or of one of its roles: "chat", "chat-prefill".
bool is_workload(std::string_view text, const PlanSpec& spec) {
  return std::ranges::any_of(spec.services, [&](const ServiceSpec& service) {
    return text == service.name || text == service.name + "-prefill" || text == service.name + "-decode";
  });
}

bool is_named(std::string_view statement, std::string_view name, const PlanSpec& spec) {
  if (name.empty()) return false;
  if (statement == name) return true;
  if (statement.size() <= name.size()) return false;
  const std::size_t rest = statement.size() - name.size() - 1;
  if (statement.ends_with(name) && statement[rest] == ' ') return is_workload(statement.substr(0, rest), spec);
  return statement.starts_with(name) && statement[name.size()] == ' ';
}

/// Returns the name without the service's, if the plan has only one.
std::string short_name(const std::string& name, const PlanSpec& spec) {
  if (spec.services.size() != 1) return name;
  const std::string& service = spec.services.front().name;
  for (const std::string& prefix : {service + " ", service + ": ", service + "-"}) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return name;
}

/// Adds a figure. Figures of several services or roles with the same value are one: "prefill and decode grace period".
void add_figure(std::vector<PageFigure>& figures, std::string_view name, PageFigure figure) {
  const auto has_prefix = [&](const std::string& text) {
    return text.size() > name.size() + 1 && text.ends_with(name) && text[text.size() - name.size() - 1] == ' ';
  };
  const auto same = std::ranges::find_if(figures, [&](const PageFigure& known) {
    return has_prefix(known.name) && known.value == figure.value && known.evidence == figure.evidence;
  });
  if (same == figures.end() || !has_prefix(figure.name)) {
    figures.push_back(std::move(figure));
    return;
  }
  const std::string known = same->name.substr(0, same->name.size() - name.size() - 1);
  same->name = fmt::format("{} and {}", known, figure.name);
}

/// Returns the names of the metrics of the dashboard's first row, each once.
std::string watched_metrics(const Section& section, const PlanSpec& spec) {
  std::vector<std::string> names;
  for (const Statement& statement : section.statements) {
    if (statement.name.ends_with("left out")) continue;
    std::string name = statement.name;
    for (const ServiceSpec& service : spec.services) {
      if (name.starts_with(service.name + ": ")) name = name.substr(service.name.size() + 2);
    }
    if (names.size() < kWatchedMost && std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return fmt::format("{}", fmt::join(names, "; "));
}

}  // namespace

PageBlock block_of(const Section& section, const PlanSpec& spec) {
  PageBlock block{.name = section.key, .title = section.title, .answer = section.answer};
  std::ranges::replace(block.name, '_', ' ');
  const auto row = std::ranges::find(kSectionFigures, std::string_view(section.key), &SectionFigures::key);
  if (row == kSectionFigures.end()) return block;
  block.answer = sentences_of(section.answer, row->skipped, row->sentences);
  if (section.key == "monitoring") {
    const std::string watched = watched_metrics(section, spec);
    if (!watched.empty()) block.figures.push_back({"watch", watched, Evidence::none});
    return block;
  }
  const std::size_t names = spec.services.size() > 1 ? kNamesOfSeveralServices : row->names.size();
  for (const Statement& statement : section.statements) {
    const auto key_names = std::span(row->names).first(names);
    const auto name = std::ranges::find_if(
        key_names, [&](std::string_view key_name) { return is_named(statement.name, key_name, spec); });
    // The answer says it where no service shares a GPU.
    const bool is_whole = section.key == "sharing" && statement.value.find("whole GPU") != std::string::npos;
    if (name == key_names.end() || is_whole) continue;
    add_figure(block.figures, *name, {short_name(statement.name, spec), statement.value, statement.evidence});
  }
  return block;
}

}  // namespace capstan::plan
