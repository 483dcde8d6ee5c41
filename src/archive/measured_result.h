#pragma once

#include <string>

#include "base/error.h"

// Stores the result of a simulation in its recording. A controller sees no single requests, so only a simulation has
// such a result.
namespace capstan::archive {

/// Adds the result of a simulation to its finished recording.
/// @param json  the result, as `sim -o json` writes it
Result<void> write_measured(const std::string& path, const std::string& json);

/// Returns the result of a recording; empty if it has none. A result does not count if states were added to the
/// recording later, because it does not cover them.
Result<std::string> read_measured(const std::string& path);

}  // namespace capstan::archive
