#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lint/run.h"

namespace capstan::lint {

/// A file with the edits of its findings applied.
struct FixedFile {
  const File* file = nullptr;
  std::string text;
  std::vector<const Finding*> fixed;
  std::vector<const Finding*> refused;  ///< the edits would have changed something else, too
  std::vector<const Finding*>
      overlapping;  ///< the edits change bytes that another fix changes; the next run makes them
};

/// Applies the edits of the findings, `safe` ones or all, once. Both `--fix` and `--diff` show what this returns, and
/// what an edit gives rise to is left for the next run. A fix is made only where the file then reads as the same
/// documents but for the values that its edits touch; safe fixes come first. Files that are one file under several
/// names are returned once.
std::vector<FixedFile> apply_fixes(const Report& report, FixSafety up_to);

/// Does a finding have edits, and do they change nothing but the values that they touch?
bool can_be_fixed(const Finding& finding);

/// A text with edits applied that do not overlap, in the order of their places.
std::string with_edits(const std::string& text, std::vector<Edit> edits);

/// Do two readings of a text agree everywhere but where it was edited?
bool same_but_for(const manifest::Value& before, const manifest::Value& after, const std::vector<Edit>& edits);

/// The difference as `diff -u` writes it.
std::string unified_diff(const std::string& path, const std::string& before, const std::string& after);

}  // namespace capstan::lint
