#pragma once

#include <string>

#include "model/reason.h"

// Help for operators about reason codes. Its texts are in model/reason_help.inc.
namespace capstan::explain {

/// Returns the page docs/reference/troubleshooting.md: every code with its meaning, numbers, causes and remedy.
std::string troubleshooting_page();

/// Returns the entry of one code as text for a terminal, in lines of at most `width` characters.
std::string reason_entry(model::ReasonCode code, std::size_t width);

}  // namespace capstan::explain
