#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "control/controller.h"
#include "model/names.h"
#include "model/snapshot.h"

namespace capstan::archive {

/// What a decision was made from: the snapshot, what the loop remembered just before, and the policies. Decided again,
/// it gives the same plan byte for byte, on any machine and whatever became of the cluster since.
struct SavedState {
  model::Snapshot snapshot;
  model::Names names;
  control::Policies policies;
  control::Memory memory;
};

/// The document of docs/reference/snapshot.md, with an end of line. It holds no secret: names, numbers and reasons
/// only.
std::string to_json(const SavedState& state);

/// Reads it back. Strict: unknown and missing keys, references to what is not there, numbers outside their bounds and
/// rows that contradict each other are input errors with their place.
/// @param file  its name in errors
Result<SavedState> parse(std::string_view text, const std::string& file);
Result<SavedState> read(const std::string& path);

}  // namespace capstan::archive
