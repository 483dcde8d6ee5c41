#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lint/run.h"

namespace capstan::lint {

/// A file as its fixes leave it.
struct FixedFile {
  const File* file = nullptr;
  std::string text;
  std::vector<const Finding*> mended;   ///< what is gone with it
  std::vector<const Finding*> refused;  ///< whose edits would have changed something else, too
};

/// Applies the edits of the findings. What overlaps with an edit before it waits for the next run. A fix is kept only
/// where the file then reads as the same documents but for what it edits, and the rule is silent there.
std::vector<FixedFile> apply_fixes(const Report& report);

/// A text with edits applied, those that do not overlap; in the order of their places.
std::string with_edits(const std::string& text, std::vector<Edit> edits);

/// Do two readings of a text agree everywhere but where it was edited?
bool same_but_for(const manifest::Value& before, const manifest::Value& after, const std::vector<Edit>& edits);

/// The difference as `diff -u` writes it.
std::string unified_diff(const std::string& path, const std::string& before, const std::string& after);

}  // namespace capstan::lint
