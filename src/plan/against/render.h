#pragma once

#include <string>
#include <vector>

#include "plan/against/difference.h"
#include "plan/against/existing_scaler.h"

namespace capstan::plan {

/// Returns what the existing autoscalers reach on the plan's load, next to the plan's own, notes about all changes, and
/// then each change: where, what, why, what it saves, and what a safe change needs.
std::string render_against_text(const Plan& plan, const std::vector<Difference>& differences,
                                const std::vector<ExistingScaler>& scalers, const std::vector<std::string>& notes = {});
/// Returns the same as Markdown.
std::string render_against_markdown(const Plan& plan, const std::vector<Difference>& differences,
                                    const std::vector<ExistingScaler>& scalers,
                                    const std::vector<std::string>& notes = {});
/// Returns the same as JSON. Values of objects are JSON, not text.
std::string render_against_json(const Plan& plan, const std::vector<Difference>& differences,
                                const std::vector<ExistingScaler>& scalers, const std::vector<std::string>& notes = {});

}  // namespace capstan::plan
