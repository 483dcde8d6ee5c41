#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "manifest/errors.h"
#include "plan/spec/spec.h"

namespace capstan::plan {

using SpecResult = std::expected<PlanSpec, manifest::Errors>;

/// Reads and checks a spec. Values that it leaves out get a default, which `PlanSpec::defaults` lists.
/// @return an input error with its place for every mistake in the file, or an infeasible one for what cannot exist
SpecResult read_plan_spec(const std::string& path);

/// Reads and checks a spec from memory. `file` names it in errors, and relative paths start at its folder.
SpecResult parse_plan_spec(std::string_view text, const std::string& file);

}  // namespace capstan::plan
