#pragma once

#include <cstdint>

#include "archive/redecide.h"
#include "control/controller.h"

namespace capstan::serve {

/// Returns the last decisions of a controller that runs, as `archive::redecide` returns those of a saved state, without
/// the memory. The actions come from the controller's log, because it moves them out of its decisions.
/// @param first_action  number in the log of the first action that belongs to them
archive::Redecision last_decisions(const control::Controller& controller, std::uint64_t first_action);

}  // namespace capstan::serve
