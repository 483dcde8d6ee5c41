#include "experiment/run/lower_decisions.h"

#include <fmt/format.h>

#include <variant>

#include "explain/candidates.h"
#include "explain/explain.h"

namespace capstan::experiment {
namespace {

using control::LoggedAction;

explain::LayerDecisions last_decisions(const control::Controller& controller) {
  return {{}, controller.place_decision(), controller.provision_decision()};
}

/// Returns the GPUs of a gang's pods that need a node, rounded up; 0 if the last decision did not search for room.
GpuCount gpus_without_node(const control::Controller& controller, model::GangId gang) {
  for (const decide::place::Search& search : controller.place_decision().searches) {
    if (search.gang == gang) return gpus_up(search.gpus_per_pod * search.pods);
  }
  return 0;
}

LowerDecision of_action(const control::Controller& controller, const model::Catalog& catalog,
                        const LoggedAction& logged) {
  LowerDecision one{.at = logged.at, .layer = logged.layer};
  if (const auto* bind = std::get_if<model::BindPods>(&logged.action.effect)) {
    one.gang = bind->gang;
    one.gpus = gpus_without_node(controller, bind->gang);
  } else if (const auto* launch = std::get_if<model::LaunchNodes>(&logged.action.effect)) {
    one.gang = launch->gang;
    one.gpus = launch->count * catalog.offering(launch->offering).gpus;
  }
  one.object = explain::object_of(catalog, logged.action);
  one.action = explain::line(catalog, logged.action);
  const std::string arithmetic = explain::arithmetic(catalog, last_decisions(controller), logged.action);
  if (arithmetic != one.action + ".") one.arithmetic = arithmetic;
  return one;
}

}  // namespace

std::vector<LowerDecision> lower_decisions(const control::Controller& controller, const model::Catalog& catalog,
                                           std::uint64_t first_action) {
  std::vector<LowerDecision> all;
  const auto& entries = controller.log().entries();
  // The new actions are at the end of the log.
  auto first = entries.end();
  while (first != entries.begin() && std::prev(first)->number >= first_action) --first;
  for (; first != entries.end(); ++first) {
    if (first->layer != LoggedAction::Layer::scale) all.push_back(of_action(controller, catalog, *first));
  }
  return all;
}

LowerDecision waiting_decision(const control::Controller& controller, const model::Catalog& catalog, Instant at,
                               model::GangId gang, const std::string& sentence, const std::string& supply) {
  LowerDecision one{.at = at, .layer = LowerDecision::Layer::place, .gang = gang};
  one.gpus = gpus_without_node(controller, gang);
  one.object = fmt::format("gang {}", gang.value);
  one.action = fmt::format("{} waits: {}", one.object, sentence);
  if (!supply.empty() && supply != sentence) one.action += "; nodes: " + supply;
  one.arithmetic = explain::candidates(catalog, last_decisions(controller), gang);
  return one;
}

}  // namespace capstan::experiment
