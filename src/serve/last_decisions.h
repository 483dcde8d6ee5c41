#pragma once

#include <cstdint>

#include "archive/redecide.h"
#include "control/controller.h"

namespace capstan::serve {

/// Returns the last decisions of a running controller in the form of `archive::redecide`, with an empty memory. The
/// actions are read from the log, because the controller has moved them there.
/// @param first_action  number in the log of the first action of these decisions
archive::RepeatedDecisions last_decisions(const control::Controller& controller, std::uint64_t first_action);

}  // namespace capstan::serve
