#pragma once

#include <string>
#include <vector>

#include "plan/against/difference.h"
#include "plan/against/existing_scaler.h"

namespace capstan::plan {

/// Returns the comparison as text. It begins with the results of the existing autoscalers and of the plan's own on the
/// plan's load, and with notes about all changes. Then follows each change with its place, its values, the reason, the
/// saving and the condition under which the change is safe.
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
