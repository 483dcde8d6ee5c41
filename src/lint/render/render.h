#pragma once

#include <cstddef>
#include <string>

#include "lint/run.h"

namespace capstan::lint {

/// For a person: each finding with its line and carets, then what was looked at and left alone.
std::string to_text(const Report& report, bool color);
/// One line a finding, as compilers write it, for editors and grep: "a.yaml:4:38: error: ... [rule]".
std::string to_concise(const Report& report);
/// docs/reference/lint.md has the keys.
std::string to_json(const Report& report);
/// SARIF 2.1.0, for code scanning.
std::string to_sarif(const Report& report, const std::string& version);
/// Workflow commands of GitHub Actions: a finding becomes a remark at its line.
std::string to_github(const Report& report);
/// JUnit's XML: a test case a file, a failure a finding.
std::string to_junit(const Report& report);
/// How often each rule found something.
std::string to_statistics(const Report& report);

/// Findings that have a fix of this safety.
std::size_t count_fixes(const Report& report, FixSafety safety);

/// "3 errors and 1 warning in 12 files, ..."
std::string summary_words(const Report& report);

}  // namespace capstan::lint
