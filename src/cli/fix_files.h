#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "lint/fix.h"

namespace capstan::cli {

/// The changes as `patch` reads them.
std::string diff_of(const std::vector<lint::FixedFile>& files);

/// What a person should know of fixes that are made or shown: cautions, and edits that were left out with the reason.
/// One line each, with its place.
std::string fix_notes(const std::vector<lint::FixedFile>& files);

/// "fixed 2 findings in 1 file"
std::string fixed_words(const std::vector<lint::FixedFile>& files);

/// Writes the files, each whole or not at all; one that changed since it was read is left alone. Returns the errors.
std::vector<Error> write_fixes(const std::vector<lint::FixedFile>& files);

}  // namespace capstan::cli
