#pragma once

#include <vector>

#include "base/time.h"
#include "fleet/index.h"
#include "model/gang.h"
#include "model/snapshot.h"

namespace capstan::control {

/// Updates the planned replicas, which are decided but have no pods yet. Removes a replica when its gang has appeared
/// or it is no longer wanted, and adds newly wanted ones with the lowest free ordinals. The list is sorted by service
/// and ordinal. A planned replica represents its gang from the decision on, so that capacity is counted once and nodes
/// can be bought before pods exist.
void update_planned(std::vector<model::PlannedGang>& planned, const model::Snapshot& snapshot,
                    const fleet::Index& index, Instant now);

}  // namespace capstan::control
