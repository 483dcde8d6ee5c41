#include "plan/render/key_figures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace capstan::plan {

namespace {

/// A value of a figure, and the services or workloads that have it.
struct SharedValue {
  std::string value{};
  std::vector<std::string> subjects{};
};

/// A figure of several services or workloads: "grace period" of "chat-prefill" and "chat-decode".
struct SharedFigure {
  std::string name{};
  Evidence evidence = Evidence::none;
  std::vector<SharedValue> values{};
};

/// Returns the name of a statement without its subject.
std::string bare_name(const Statement& statement) {
  const std::string prefix = statement.subject + " ";
  const bool has_prefix = !statement.subject.empty() && statement.name.starts_with(prefix);
  return has_prefix ? statement.name.substr(prefix.size()) : statement.name;
}

/// Returns the subject without the name of the only service: "prefill" for "chat-prefill".
std::string short_subject(const std::string& subject, const PlanSpec& spec) {
  if (spec.services.size() != 1) return subject;
  const std::string prefix = spec.services.front().name + "-";
  return subject.starts_with(prefix) ? subject.substr(prefix.size()) : subject;
}

/// Returns true if the subjects are all services, or all workloads, of the plan.
bool are_all(const std::vector<std::string>& subjects, const PlanSpec& spec) {
  std::set<std::string> services, workloads;
  for (const ServiceSpec& service : spec.services) {
    services.insert(service.name);
    if (!service.is_disaggregated) workloads.insert(service.name);
    if (service.is_disaggregated) workloads.insert({service.name + "-prefill", service.name + "-decode"});
  }
  const std::set<std::string> found(subjects.begin(), subjects.end());
  return found == services || found == workloads;
}

void add_value(std::vector<SharedFigure>& figures, const Statement& statement) {
  const std::string name = bare_name(statement);
  const auto known = std::ranges::find_if(figures, [&](const SharedFigure& figure) {
    return !statement.subject.empty() && figure.name == name && figure.evidence == statement.evidence;
  });
  SharedFigure& figure =
      known == figures.end() ? figures.emplace_back(SharedFigure{name, statement.evidence, {}}) : *known;
  const auto same = std::ranges::find(figure.values, statement.value, &SharedValue::value);
  SharedValue& value =
      same == figure.values.end() ? figure.values.emplace_back(SharedValue{statement.value, {}}) : *same;
  if (!statement.subject.empty()) value.subjects.push_back(statement.subject);
}

/// Returns "composite goodput (assistant, summaries), queue depth (router)". A value of all services has no names.
std::string value_words(const SharedFigure& figure, const PlanSpec& spec) {
  std::string words;
  for (const SharedValue& value : figure.values) {
    words += (words.empty() ? "" : ", ") + value.value;
    if (value.subjects.empty() || are_all(value.subjects, spec)) continue;
    std::vector<std::string> names;
    for (const std::string& subject : value.subjects) names.push_back(short_subject(subject, spec));
    words += fmt::format(" ({})", fmt::join(names, ", "));
  }
  return words;
}

}  // namespace

PageBlock block_of(const Section& section, const PlanSpec& spec) {
  PageBlock block{.name = section.key, .title = section.title, .answer = section.page_answer};
  std::ranges::replace(block.name, '_', ' ');
  std::vector<SharedFigure> figures;
  for (const Statement& statement : section.statements) {
    const bool is_shown = statement.visibility == Visibility::page ||
                          (statement.visibility == Visibility::one_service && spec.services.size() == 1);
    if (is_shown) add_value(figures, statement);
  }
  for (const SharedFigure& figure : figures) {
    block.figures.push_back({figure.name, value_words(figure, spec), figure.evidence});
  }
  for (const PageNote& note : section.notes) block.figures.push_back({note.name, note.text, Evidence::none});
  return block;
}

}  // namespace capstan::plan
