#pragma once

#include <string>

#include "base/error.h"
#include "lint/run.h"

namespace capstan::lint {

/// Returns the findings as a baseline (JSON). With a stored baseline, later runs report only new findings. Rule, file,
/// object and message identify a finding. Its line does not, because lines move.
std::string baseline_of(const Report& report);

/// Removes the findings that a baseline lists. Each entry removes one finding.
Result<void> subtract_baseline(Report& report, const std::string& json, const std::string& path);

}  // namespace capstan::lint
