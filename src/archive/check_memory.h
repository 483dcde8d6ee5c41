#pragma once

#include <optional>
#include <string>

#include "control/controller.h"
#include "model/snapshot.h"

namespace capstan::archive {

/// What of a memory cannot have come from this snapshot's loop: a row that names what the catalog does not have, or a
/// number that no decision leaves behind. Decisions trust their memory, so a file's is looked at first.
/// Rows that name nodes, pods and claims are let pass: these come and go.
std::optional<std::string> find_fault(const control::Memory& memory, const model::Snapshot& snapshot);

}  // namespace capstan::archive
