#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "control/in_flight.h"
#include "decide/place/place.h"
#include "decide/provision/provision.h"
#include "decide/scale/scale.h"
#include "fleet/index.h"
#include "model/plan.h"
#include "model/snapshot.h"

namespace capstan::control {

/// Number of times that a plan would have violated a numbered invariant (docs/invariants.md). For Capstan's own
/// policies every count must be 0. For a baseline the counts are shown in its row.
struct Violations {
  std::int64_t partial_gang = 0;  ///< 1: bindings that leave a gang partially bound
  std::int64_t scale_downs_without_data =
      0;                            ///< 3: scale-downs while a ready replica gave no usable reading of a needed signal
  std::int64_t limit_exceeded = 0;  ///< 4: actions that would exceed a limit; the loop removes them
};

/// Counts the violations of `plan` and removes every action that would exceed a limit. Earlier actions that the
/// snapshot does not show yet are counted from the policies' memories. The guard and the policies then count the same
/// actions.
///
/// @param placed  memory after the placement of this plan: bindings that no snapshot shows, including the plan's
/// @param bought  memory after the provisioning of this plan: launches without claims, including the plan's
/// @return the removed actions
std::vector<model::Action> guard(model::Plan& plan, const model::Snapshot& snapshot, const fleet::Index& index,
                                 const decide::place::Memory& placed, const decide::provision::Memory& bought,
                                 Violations& violations);

/// Returns the policy in force of a service.
using PolicyOf = std::function<const decide::scale::Policy&(model::ServiceId)>;

/// Returns the number of actions of the plan that lower a service while one of its ready replicas gives no usable
/// reading of a signal that the service's policy needs. If the policy needs no signal, because another autoscaler
/// decides, the waiting requests count. A count that a person stated needs no data.
/// @param in_flight  actions without an outcome; a count below the last submitted one is a scale-down
std::int64_t count_scale_downs_without_data(const model::Plan& plan, const model::Snapshot& snapshot,
                                            const fleet::Index& index, const InFlight& in_flight,
                                            const PolicyOf& policy_of);

}  // namespace capstan::control
