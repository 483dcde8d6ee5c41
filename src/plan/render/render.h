#pragma once

#include <string>

#include "plan/plan.h"

namespace capstan::plan {

/// Returns the plan as a page of plain text of at most 100 columns.
std::string render_text(const Plan& plan);
/// Returns the plan as a page of Markdown.
std::string render_markdown(const Plan& plan);
/// Returns the plan as JSON; docs/reference/plan.md describes it.
std::string render_json(const Plan& plan);

}  // namespace capstan::plan
