#pragma once

#include <string>
#include <vector>

#include "plan/against/difference.h"
#include "plan/against/existing_scaler.h"

namespace capstan::plan {

/// Returns what the existing autoscalers reach on the plan's load, next to the plan's own, and then each change: where,
/// what, why, and what it saves.
std::string render_against_text(const Plan& plan, const std::vector<Difference>& differences,
                                const std::vector<ExistingScaler>& scalers);
/// Returns the same as Markdown.
std::string render_against_markdown(const Plan& plan, const std::vector<Difference>& differences,
                                    const std::vector<ExistingScaler>& scalers);
/// Returns the same as JSON. Values of objects are JSON, not text.
std::string render_against_json(const Plan& plan, const std::vector<Difference>& differences,
                                const std::vector<ExistingScaler>& scalers);

}  // namespace capstan::plan
