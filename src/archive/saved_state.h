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
  /// The layers that decided. Only a recording states them; for a file with one state, all layers decide.
  control::DueDecisions due{};
  std::int64_t number = -1;  ///< number of the state in its recording; -1: it was not read from one
};

/// Highest `format_version`. A file is written in the lowest version, at least 2, that has a key for everything in it;
/// docs/reference/snapshot.md lists the content that needs each version. All versions from 1 on can be read.
inline constexpr std::int64_t kFormat = 8;

/// Returns the document that docs/reference/snapshot.md describes, with a final newline. It contains no secrets, only
/// names, numbers and reasons.
std::string to_json(const SavedState& state);

/// Reads a document that `to_json` wrote. Unknown and missing keys, references to absent rows, numbers outside their
/// bounds and rows that contradict each other are input errors with file, line and column.
/// @param file  name of the file in errors
Result<SavedState> parse(std::string_view text, const std::string& file);
Result<SavedState> read(const std::string& path);

}  // namespace capstan::archive
