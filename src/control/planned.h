#pragma once

#include <vector>

#include "base/time.h"
#include "decide/index.h"
#include "model/gang.h"
#include "model/snapshot.h"

namespace capstan::control {

/// Brings the replicas that are decided but have no pods yet up to date: those whose gang has appeared leave, those
/// that are no longer wanted leave, those that are newly wanted join with the lowest free ordinals. Sorted by service,
/// variant, ordinal. A planned replica stands for its gang from the decision on, so that capacity is counted once and
/// nodes can be bought before pods exist.
void update_planned(std::vector<model::PlannedGang>& planned, const model::Snapshot& snapshot,
                    const decide::Index& index, Instant now);

}  // namespace capstan::control
