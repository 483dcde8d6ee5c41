#pragma once

#include <string>

#include "cli/commands.h"

namespace capstan::cli {

/// Writes a whole result on standard output at once: nothing is left half written unless the system itself fails.
ExitCode print(const std::string& text);

}  // namespace capstan::cli
