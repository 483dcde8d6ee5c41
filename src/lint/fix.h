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
  std::vector<const Finding*> refused;      ///< fixes whose edits would change something else as well
  std::vector<const Finding*> overlapping;  ///< fixes that touch the bytes of another fix; the next run makes them
};

/// Applies the edits of the findings once: the safe ones, or all. `--fix` and `--diff` both use the result. Findings
/// that an edit causes are left for the next run. A fix is made only if the file afterwards reads as the same documents
/// except for the values that the edits change. Safe fixes come first. A file with several names is returned once.
std::vector<FixedFile> apply_fixes(const Report& report, FixSafety up_to);

/// Returns true if a finding has edits and they change only the values that they name.
bool can_be_fixed(const Finding& finding);

/// Returns a text with edits applied. The edits must be sorted by place and must not overlap.
std::string with_edits(const std::string& text, std::vector<Edit> edits);

/// Returns true if two readings of a text are equal everywhere except at the edits.
bool same_but_for(const manifest::Value& before, const manifest::Value& after, const std::vector<Edit>& edits);

/// Returns the difference in the format of `diff -u`.
std::string unified_diff(const std::string& path, const std::string& before, const std::string& after);

}  // namespace capstan::lint
