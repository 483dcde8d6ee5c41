#pragma once

#include <cstdint>

#include "archive/redecide.h"
#include "control/controller.h"

namespace capstan::serve {

/// Returns the last decisions of a running controller in the form in which `archive::redecide` returns those of a saved
/// state. The memory in it stays empty. The controller moves the actions of its decisions into its log, so the actions
/// come from there.
/// @param first_action  number in the log of the first action of these decisions
archive::Redecision last_decisions(const control::Controller& controller, std::uint64_t first_action);

}  // namespace capstan::serve
