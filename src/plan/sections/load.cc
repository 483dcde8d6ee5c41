#include <fmt/format.h>

#include "plan/sections/sections.h"

namespace capstan::plan {

namespace {

Evidence evidence_of(MeasuredFigure::Source source) {
  switch (source) {
    case MeasuredFigure::Source::measured:
      return Evidence::measured;
    case MeasuredFigure::Source::stated:
      return Evidence::stated;
    case MeasuredFigure::Source::assumed:
      return Evidence::assumed;
  }
  return Evidence::assumed;
}

}  // namespace

std::optional<Section> load_section(const PlanFacts& facts) {
  Section section{.key = "load", .title = "Load"};
  std::string names;
  for (const ServiceSpec& service : facts.spec.services) {
    if (service.load.measured.empty()) continue;
    names += (names.empty() ? "" : ", ") + service.name;
    for (const MeasuredFigure& figure : service.load.measured) {
      const std::string name = facts.spec.services.size() > 1 ? service.name + " " + figure.name : figure.name;
      section.statements.push_back({.name = name,
                                    .value = figure.value,
                                    .why = figure.explanation,
                                    .evidence = evidence_of(figure.source),
                                    .visibility = figure.is_doubtful ? Visibility::page : Visibility::details});
    }
  }
  if (names.empty()) return std::nullopt;
  section.page_answer = fmt::format("The load of {} is measured on a Prometheus server.", names);
  section.answer = "The load of " + names +
                   " is measured on a Prometheus server. --out writes it as load-<service>.csv, which `load: {profile: "
                   "load-<service>.csv}` reads, so that the plan can be repeated without the server.";
  return section;
}

}  // namespace capstan::plan
