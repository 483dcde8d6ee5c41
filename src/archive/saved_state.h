#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "control/controller.h"
#include "model/names.h"
#include "model/snapshot.h"

namespace capstan::archive {

/// The inputs of a decision: the snapshot, the loop's memory before the decision, and the policies. Deciding again from
/// them gives the same plan byte for byte, on any machine and at any later time.
struct SavedState {
  model::Snapshot snapshot;
  model::Names names;
  control::Policies policies;
  control::Memory memory;
};

/// Highest `format_version`. Files with a topology other than the standard one, or with a preferred level, are written
/// in this version, other files in version 2. All versions from 1 on can be read.
inline constexpr std::int64_t kFormat = 3;

/// Returns the document that docs/reference/snapshot.md describes, with a final newline. It contains no secrets, only
/// names, numbers and reasons.
std::string to_json(const SavedState& state);

/// Reads a document that `to_json` wrote. Unknown and missing keys, references to absent rows, numbers outside their
/// bounds and rows that contradict each other are input errors with file, line and column.
/// @param file  name of the file in errors
Result<SavedState> parse(std::string_view text, const std::string& file);
Result<SavedState> read(const std::string& path);

}  // namespace capstan::archive
