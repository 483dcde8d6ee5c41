#pragma once

#include <cstdint>
#include <string>

#include "plan/result/plan.h"

namespace capstan::plan {

/// The detail in which a plan is written.
enum class PageDetail : std::uint8_t {
  page,  ///< one page: the answers and the figures that decide
  all,   ///< the page with the arithmetic of each figure, the reasons, all commands and sample manifests
};

/// Returns the plan as plain text of at most 100 columns.
std::string render_text(const Plan& plan, PageDetail detail = PageDetail::page);
/// Returns the plan as Markdown. The details of a section are folded away.
std::string render_markdown(const Plan& plan, PageDetail detail = PageDetail::page);
/// Returns the whole plan as JSON; docs/reference/plan.md describes it.
std::string render_json(const Plan& plan);

}  // namespace capstan::plan
