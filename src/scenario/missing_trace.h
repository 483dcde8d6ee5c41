#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "manifest/yaml.h"
#include "scenario/scenario.h"

namespace capstan::scenario {

/// Returns the error for the first trace of a load that does not exist, at its place in the file; nothing if all traces
/// exist.
/// @param root  file of the scenario, as it was read
/// @param sets  changes of `--set`, which may name the trace
std::optional<Error> missing_trace(const Scenario& scenario, manifest::Node root, const std::vector<std::string>& sets);

}  // namespace capstan::scenario
