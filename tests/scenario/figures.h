#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/compare.h"

namespace capstan::golden {

/// Returns a figure of a result by the name that claims use, in the unit of the name ("held_gpu_minutes"); nothing for
/// an unknown name.
std::optional<double> figure(const experiment::RunResult& result, std::string_view name);

/// Returns all names of figures, for messages.
std::vector<std::string_view> figure_names();

/// Returns a Markdown table with one row per policy: GPU minutes by state and other figures that explain a result.
std::string figures_table(const experiment::Comparison& comparison);

}  // namespace capstan::golden
