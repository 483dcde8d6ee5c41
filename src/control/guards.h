#pragma once

#include <cstdint>
#include <vector>

#include "control/in_flight.h"
#include "decide/index.h"
#include "decide/place/place.h"
#include "decide/provision/provision.h"
#include "model/plan.h"
#include "model/snapshot.h"

namespace capstan::control {

/// How often a plan would have broken a numbered invariant (docs/invariants.md). Capstan's own policies show zeros;
/// what a baseline breaks is counted and shown in its row.
struct Violations {
  std::int64_t partial_gang = 0;    ///< 1: bindings that leave a gang with some pods bound and some not
  std::int64_t lowered_blind = 0;   ///< 3: replicas lowered while a ready replica gave no usable signal
  std::int64_t limit_exceeded = 0;  ///< 4: replicas, a pool's or a queue's GPUs above their limit: refused by the loop
  std::int64_t not_repeatable = 0;  ///< 5: decisions that came out otherwise from the saved memory
};

/// Counts what `plan` breaks, and takes out of it every action that would exceed a limit: limits are hard. What is on
/// its way and not in the snapshot is counted as the policies count it, from their own memories: with two accounts, one
/// of them is wrong.
///
/// @param in_flight  what was submitted and not answered: a lowering on its way is where the next decision starts from
/// @param placed  the memory that the placement of this plan left: bindings that no snapshot shows, the plan's among
/// them
/// @param bought  the memory that the provisioning of this plan left: launches without claims, the plan's among them
/// @return the actions that were taken out
std::vector<model::Action> guard(model::Plan& plan, const model::Snapshot& snapshot, const decide::Index& index,
                                 const InFlight& in_flight, const decide::place::Memory& placed,
                                 const decide::provision::Memory& bought, Violations& violations);

}  // namespace capstan::control
