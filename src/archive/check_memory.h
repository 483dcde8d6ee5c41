#pragma once

#include <optional>
#include <string>

#include "control/controller.h"
#include "model/snapshot.h"

namespace capstan::archive {

/// Returns the first fault that shows that a memory is not from the loop of this snapshot: a reference to a row that
/// the catalog does not have, or a number that no decision produces. Decisions trust their memory, so a memory from a
/// file is checked first. References to nodes, pods and claims are not checked, because these may have been deleted
/// since.
std::optional<std::string> find_fault(const control::Memory& memory, const model::Snapshot& snapshot);

}  // namespace capstan::archive
