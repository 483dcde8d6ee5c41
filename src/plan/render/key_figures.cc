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
  std::size_t sentences = 1;                ///< of the answer, from its beginning
  std::array<std::string_view, 6> names{};  ///< a plan with several services shows the first two
};
constexpr std::array kSectionFigures = {
    SectionFigures{"nodes", 1, {"GPU limit of", "capacity of", "node group", "price of"}},
    SectionFigures{"gangs", 1, {"gang scheduling", "topology", "quota of", "preemption"}},
    SectionFigures{"replicas",
                   1,
                   {"signal", "deciding threshold", "waiting per replica", "KV memory per replica",
                    "in flight per replica", "constant fleet stays the cheapest"}},
    SectionFigures{"warm_pool", 2, {"minimum by formula", "longest simulated cold start", "balloon"}},
    SectionFigures{"sharing", 1, {"GPUs of a replica of"}},
    SectionFigures{"workload", 1, {"startup probe", "grace period", "pod"}},
    SectionFigures{"cost", 2, {"million answer tokens", "idle GPUs", "consolidation trap", "serverless"}},
    SectionFigures{"proof", 1, {"goodput", "simulations"}},
    SectionFigures{"monitoring", 2, {}},
};

/// Returns the first sentences of a text.
std::string first_sentences(const std::string& text, std::size_t number) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < number && end != text.npos; ++i) end = text.find(". ", end + 1);
  return end == text.npos ? text : text.substr(0, end + 1);
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
  // The answer on replicas has a sentence for each service.
  const std::size_t sentences = section.key == "replicas" ? spec.services.size() : row->sentences;
  block.answer = first_sentences(section.answer, sentences);
  if (section.key == "monitoring") {
    const std::string watched = watched_metrics(section, spec);
    if (!watched.empty()) block.figures.push_back({"watch", watched, Evidence::none});
    return block;
  }
  const std::size_t names = spec.services.size() > 1 ? kNamesOfSeveralServices : row->names.size();
  for (const Statement& statement : section.statements) {
    const bool is_key = std::ranges::any_of(std::span(row->names).first(names), [&](std::string_view name) {
      return is_named(statement.name, name, spec);
    });
    // The answer says it where no service shares a GPU.
    const bool is_whole = section.key == "sharing" && statement.value.find("whole GPU") != std::string::npos;
    if (is_key && !is_whole) {
      block.figures.push_back({short_name(statement.name, spec), statement.value, statement.evidence});
    }
  }
  return block;
}

}  // namespace capstan::plan
