#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "archive/redecide.h"
#include "control/action_outcome.h"
#include "model/catalog.h"

// The outcomes of the actions of a recording. An outcome identifies its action by the content of the action. A number
// would not help: when a decision is made again from the same inputs, its actions do not get the numbers of the
// recorded actions.
namespace capstan::archive {

enum class ActionResult : std::uint8_t {
  applied,   ///< it took effect
  shadow,    ///< it was not carried out, because its layer is in the mode Shadow
  refused,   ///< it was not carried out for another reason
  unknown,   ///< it may or may not have taken effect
  withheld,  ///< the controller did not submit it
};
/// Returns the name of a result in files: "applied".
std::string_view name(ActionResult result);
/// Returns the result with this name, or nothing.
std::optional<ActionResult> action_result(std::string_view name);

struct RecordedOutcome {
  std::int64_t state = 0;    ///< number of its state in the recording
  std::uint64_t action = 0;  ///< action_key() of the action
  ActionResult result{};
  std::string why{};  ///< reason why the action was not carried out, in words; may be empty
};

/// Returns a number that two actions share only if they do the same, whatever their reasons.
std::uint64_t action_key(model::Action action);
/// Returns the keys of all actions of a decision: those about replicas, then those about pods and about nodes.
std::vector<std::uint64_t> action_keys(const RepeatedDecisions& decided);
/// Returns the outcome of each action; no value if the recording has none for it. Of several equal actions, the first
/// one gets the first outcome.
std::vector<std::optional<RecordedOutcome>> outcomes_by_action(const std::vector<std::uint64_t>& keys,
                                                               std::vector<RecordedOutcome> outcomes);
/// @param catalog  for the names in the reason
RecordedOutcome recorded_outcome(const control::ActionOutcome& outcome, const model::Catalog& catalog);
/// Returns what an outcome means, in words: "not sent", "refused: …". Empty for an action that was carried out.
std::string outcome_words(const RecordedOutcome& outcome);

}  // namespace capstan::archive
