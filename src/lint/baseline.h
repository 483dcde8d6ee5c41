#pragma once

#include <string>

#include "base/error.h"
#include "lint/run.h"

namespace capstan::lint {

/// Returns the findings as a baseline. A repository that has findings already stores it, so that only new findings are
/// reported. A finding is identified by rule, file, object and message, but not by its line, which changes.
std::string baseline_of(const Report& report);

/// Removes the findings that a baseline lists. Each entry removes one finding.
Result<void> subtract_baseline(Report& report, const std::string& json, const std::string& path);

}  // namespace capstan::lint
