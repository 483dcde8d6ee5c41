#include "serve/last_decisions.h"

#include <algorithm>
#include <variant>

namespace capstan::serve {
namespace {

using Layer = control::LoggedAction::Layer;

/// Returns the decision that an action of the scale layer belongs to. Adds an empty decision if there is none.
decide::scale::Decision& row_of(std::vector<decide::scale::Decision>& rows, const model::Action& action) {
  model::ServiceId service;
  if (const auto* set = std::get_if<model::SetReplicas>(&action.effect)) service = set->service;
  if (const auto* convert = std::get_if<model::ConvertReplica>(&action.effect)) service = convert->from;
  const auto found = std::ranges::find(rows, service, &decide::scale::Decision::service);
  return found == rows.end() ? rows.emplace_back() : *found;
}

}  // namespace

archive::RepeatedDecisions last_decisions(const control::Controller& controller, std::uint64_t first_action) {
  archive::RepeatedDecisions last;
  for (std::uint32_t i = 0; i < controller.memory().scale.size(); ++i)
    last.scale.push_back(controller.scale_decision({i}));
  last.place = controller.place_decision();
  last.provision = controller.provision_decision();
  last.place.plan.actions.clear();
  last.provision.plan.actions.clear();
  for (const control::LoggedAction& logged : controller.log().entries()) {
    if (logged.number < first_action) continue;
    model::Plan& plan = logged.layer == Layer::scale   ? row_of(last.scale, logged.action).plan
                        : logged.layer == Layer::place ? last.place.plan
                                                       : last.provision.plan;
    plan.actions.push_back(logged.action);
  }
  return last;
}

}  // namespace capstan::serve
