#pragma once

#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "manifest/errors.h"
#include "plan/spec/spec.h"

namespace capstan::plan {

using SpecResult = std::expected<PlanSpec, manifest::Errors>;

/// Reads and checks a spec. Values that it leaves out get a default, which `PlanSpec::defaults` lists.
/// @param sets  changes to the file as "path=value", as `--set` has them
/// @return an input error with its place for every mistake in the file, or an infeasible error for impossible demands
SpecResult read_plan_spec(const std::string& path, std::span<const std::string> sets = {});

/// Reads and checks a spec from memory. `file` names it in errors, and relative paths start at its folder.
SpecResult parse_plan_spec(std::string_view text, const std::string& file, std::span<const std::string> sets = {});

/// Returns a commented spec, the text of schema/plan-example.yaml.
std::string_view example_spec();

}  // namespace capstan::plan
