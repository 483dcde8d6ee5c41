#pragma once

#include <string>
#include <vector>

#include "plan/against/difference.h"
#include "plan/against/existing_scaler.h"

namespace capstan::plan {

/// Returns one line for each change, and for each autoscaler that was simulated what it costs beside the plan.
std::string render_against_text(const Plan& plan, const std::vector<Difference>& differences,
                                const std::vector<ExistingScaler>& scalers);
/// Returns the same as JSON.
std::string render_against_json(const Plan& plan, const std::vector<Difference>& differences,
                                const std::vector<ExistingScaler>& scalers);

}  // namespace capstan::plan
