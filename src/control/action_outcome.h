#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/time.h"
#include "model/plan.h"
#include "model/reason.h"

namespace capstan::control {

/// The end of one decided action.
struct ActionOutcome {
  enum class Kind : std::uint8_t {
    applied,   ///< it took effect
    refused,   ///< it was not carried out, and `why` is the reason
    unknown,   ///< it may or may not have taken effect
    withheld,  ///< the controller did not submit it, because it would exceed a limit or too many actions are in flight
  };
  Instant decided_at;  ///< time of the snapshot from which it was decided
  const model::Action& action;
  Kind kind = Kind::unknown;
  std::optional<model::Reason> why{};
};

/// A function that is called with each outcome. If the input observer sees the inputs of the decision, it sees them
/// earlier. It does not see them if all actions of a decision about pods and nodes were withheld.
using OutcomeObserver = std::function<void(const ActionOutcome&)>;

}  // namespace capstan::control
