#pragma once

#include <cstdint>
#include <vector>

#include "control/in_flight.h"
#include "decide/place/place.h"
#include "decide/provision/provision.h"
#include "fleet/index.h"
#include "model/plan.h"
#include "model/snapshot.h"

namespace capstan::control {

/// Number of times that a plan would have violated a numbered invariant (docs/invariants.md). For Capstan's own
/// policies every count must be 0. For a baseline the counts are shown in its row.
struct Violations {
  std::int64_t partial_gang = 0;              ///< 1: bindings that leave a gang partially bound
  std::int64_t scale_downs_without_data = 0;  ///< 3: scale-downs while a ready replica gave no usable signal
  std::int64_t limit_exceeded = 0;            ///< 4: actions that would exceed a limit; the loop removes them
};

/// Counts the violations of `plan` and removes every action that would exceed a limit. Earlier actions that the
/// snapshot does not show yet are counted from the policies' memories. The guard and the policies then count the same
/// actions.
///
/// @param in_flight  actions without an outcome; a count below the last submitted one is a scale-down
/// @param placed  memory after the placement of this plan: bindings that no snapshot shows, including the plan's
/// @param bought  memory after the provisioning of this plan: launches without claims, including the plan's
/// @return the removed actions
std::vector<model::Action> guard(model::Plan& plan, const model::Snapshot& snapshot, const fleet::Index& index,
                                 const InFlight& in_flight, const decide::place::Memory& placed,
                                 const decide::provision::Memory& bought, Violations& violations);

}  // namespace capstan::control
