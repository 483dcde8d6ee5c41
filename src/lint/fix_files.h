#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "lint/fix.h"

namespace capstan::lint {

/// Returns the changes as a unified diff, as `patch` reads it.
std::string diff_of(const std::vector<FixedFile>& files);

/// Returns notes about the fixes: cautions, and the reasons of edits that were left out. Each note is a line that
/// begins with its place.
std::string fix_notes(const std::vector<FixedFile>& files);

/// Returns a summary such as "fixed 2 findings in 1 file".
std::string fixed_words(const std::vector<FixedFile>& files);

/// Writes each file completely or not at all, and returns the errors. A file that changed since it was read is not
/// written.
std::vector<Error> write_fixes(const std::vector<FixedFile>& files);

}  // namespace capstan::lint
