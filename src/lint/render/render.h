#pragma once

#include <cstddef>
#include <string>

#include "lint/run.h"

namespace capstan::lint {

/// Renders for a terminal: each finding with its marked source line, then counts of what was read and skipped.
std::string to_text(const Report& report, bool color);
/// Renders one line per finding in the format of compilers, for editors and grep: "a.yaml:4:38: error: ... [rule]".
std::string to_concise(const Report& report);
/// Renders JSON. docs/reference/lint.md describes the keys.
std::string to_json(const Report& report);
/// Renders SARIF 2.1.0 for code scanning.
std::string to_sarif(const Report& report, const std::string& version);
/// Renders workflow commands of GitHub Actions, which shows each finding at its line.
std::string to_github(const Report& report);
/// Renders JUnit XML with one test case per finding.
std::string to_junit(const Report& report);
/// Renders the number of findings per rule.
std::string to_statistics(const Report& report);

/// Returns the number of findings with a fix of this safety.
std::size_t count_fixes(const Report& report, FixSafety safety);

/// Returns a summary: "3 errors, 1 warning in 12 files (40 objects); ..."
std::string summary_text(const Report& report);

}  // namespace capstan::lint
