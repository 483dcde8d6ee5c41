#pragma once

#include <string>
#include <string_view>

#include "scenario/scenario.h"

namespace capstan::plan {

/// Returns the name of the file with the measured load of a service, which `--out` writes: "load-chat.csv".
std::string measured_load_file(std::string_view service);

/// Replaces the profile that a scenario names by its text, because the file is not written yet. Does nothing if the
/// text is empty.
void use_measured_load(const std::string& profile_text, scenario::Scenario& scenario);

}  // namespace capstan::plan
