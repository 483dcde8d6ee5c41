#pragma once

#include <cstdint>
#include <span>

#include "control/in_flight.h"
#include "decide/index.h"
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

/// Counts what `plan` breaks, and takes out of it every action that would exceed a limit: limits are hard.
///
/// @param in_flight  what was submitted and not answered; launches count until their claims show
void guard(model::Plan& plan, const model::Snapshot& snapshot, const decide::Index& index,
           std::span<const InFlight::Entry> in_flight, Violations& violations);

}  // namespace capstan::control
