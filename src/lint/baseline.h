#pragma once

#include <string>

#include "base/error.h"
#include "lint/run.h"

namespace capstan::lint {

/// The findings as a baseline: what an old repository has, so that only what is new is reported. A finding is known by
/// rule, file, object and message, not by its line, which moves.
std::string baseline_of(const Report& report);

/// Takes out the findings that a baseline knows, each as often as it has it.
Result<void> subtract_baseline(Report& report, const std::string& json, const std::string& path);

}  // namespace capstan::lint
