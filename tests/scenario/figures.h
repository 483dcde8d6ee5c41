#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/compare.h"

namespace capstan::scenario {

/// A number of a result by the name that claims use, in the unit that the name says ("held_gpu_minutes"); nothing for
/// a name that is none.
std::optional<double> figure(const experiment::RunResult& result, std::string_view name);

/// The names, for messages.
std::vector<std::string_view> figure_names();

/// GPU minutes by state and what else explains a result, as a Markdown table with one row a policy.
std::string figures_table(const experiment::Comparison& comparison);

}  // namespace capstan::scenario
