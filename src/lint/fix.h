#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lint/run.h"

namespace capstan::lint {

/// A file after the edits of its findings.
struct FixedFile {
  const File* file = nullptr;
  std::string text;
  std::vector<const Finding*> fixed;
  std::vector<const Finding*> refused;  ///< findings whose edits would also change other values
  /// Findings whose edits overlap with other edits; the next run applies them.
  std::vector<const Finding*> overlapping;
};

/// Applies the edits of the findings once, for `--fix` and `--diff`: the safe edits, or all. Safe edits are applied
/// first. Edits are refused if parsing the new text would change any value that they do not name. Findings that the
/// edits cause are left for the next run. A file with several names is returned once.
std::vector<FixedFile> apply_fixes(const Report& report, FixSafety up_to);

/// Returns true if a finding has edits that change only the values that they name.
bool can_be_fixed(const Finding& finding);

/// Returns a text with edits applied. The edits must not overlap.
std::string with_edits(const std::string& text, std::vector<Edit> edits);

/// Returns true if two parsed values differ only where the edits are.
bool differ_only_at(const manifest::Value& before, const manifest::Value& after, const std::vector<Edit>& edits);

/// Returns the difference in the format of `diff -u`.
std::string unified_diff(const std::string& path, const std::string& before, const std::string& after);

}  // namespace capstan::lint
