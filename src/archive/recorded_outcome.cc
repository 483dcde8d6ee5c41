#include "archive/recorded_outcome.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/enum_names.h"
#include "model/reason_sentence.h"

namespace capstan::archive {
namespace {

constexpr std::array<std::string_view, 5> kResultNames{"applied", "shadow", "refused", "unknown", "withheld"};

ActionResult result_of(const control::ActionOutcome& outcome) {
  using Kind = control::ActionOutcome::Kind;
  switch (outcome.kind) {
    case Kind::applied:
      return ActionResult::applied;
    case Kind::unknown:
      return ActionResult::unknown;
    case Kind::withheld:
      return ActionResult::withheld;
    case Kind::refused:
      break;
  }
  const bool is_shadow = outcome.why && outcome.why->code == model::ReasonCode::shadow_mode;
  return is_shadow ? ActionResult::shadow : ActionResult::refused;
}

}  // namespace

std::string_view name(ActionResult result) { return enum_name(kResultNames, result); }
std::optional<ActionResult> action_result(std::string_view name) {
  return enum_named<ActionResult>(kResultNames, name);
}

std::uint64_t action_key(model::Action action) {
  action.why = {};
  model::Plan plan;
  plan.actions.push_back(std::move(action));
  return model::plan_hash(plan);
}

std::vector<std::uint64_t> action_keys(const RepeatedDecisions& decided) {
  std::vector<std::uint64_t> keys;
  const auto add = [&](const model::Plan& plan) {
    for (const model::Action& action : plan.actions) keys.push_back(action_key(action));
  };
  for (const decide::scale::Decision& decision : decided.scale) add(decision.plan);
  add(decided.place.plan);
  add(decided.provision.plan);
  return keys;
}

std::vector<std::optional<RecordedOutcome>> outcomes_by_action(const std::vector<std::uint64_t>& keys,
                                                               std::vector<RecordedOutcome> outcomes) {
  std::vector<std::optional<RecordedOutcome>> by_action;
  for (const std::uint64_t key : keys) {
    const auto found = std::ranges::find(outcomes, key, &RecordedOutcome::action);
    by_action.emplace_back();
    if (found == outcomes.end()) continue;
    by_action.back() = std::move(*found);
    outcomes.erase(found);
  }
  return by_action;
}

RecordedOutcome recorded_outcome(const control::ActionOutcome& outcome, const model::Catalog& catalog) {
  return {.action = action_key(outcome.action),
          .result = result_of(outcome),
          .why = outcome.why ? model::sentence(*outcome.why, catalog) : ""};
}

std::string outcome_words(const RecordedOutcome& outcome) {
  const std::string why = outcome.why.empty() ? "" : ": " + outcome.why;
  switch (outcome.result) {
    case ActionResult::applied:
      return "";
    case ActionResult::shadow:
      return "Shadow, not carried out";
    case ActionResult::refused:
      return "refused" + why;
    case ActionResult::unknown:
      return "outcome unknown" + why;
    case ActionResult::withheld:
      break;
  }
  return "not sent";
}

}  // namespace capstan::archive
