#pragma once

#include <string>
#include <utility>
#include <vector>

#include "decide/place/place.h"
#include "fleet/testing/world.h"

namespace capstan::decide::place {

/// Returns the policy `gang` with a pass switched off.
inline Policy gang_without(std::string pass) {
  Policy policy;
  policy.off.insert(std::move(pass));
  return policy;
}

/// Decides about the gangs of a snapshot with a new index, and checks the invariants after each pass.
inline Decision place_once(const fleet::testing::World& world, const Policy& policy, Memory& memory, Instant now,
                           std::vector<model::PlannedGang> planned = {}) {
  Index index = fleet::build(world.snapshot);
  return decide(index, world.snapshot, planned, policy, memory, now, {.options = {.verify = Verify::yes}});
}
inline Decision place_once(const fleet::testing::World& world, const Policy& policy,
                           std::vector<model::PlannedGang> planned = {}) {
  Memory memory;
  return place_once(world, policy, memory, fleet::testing::at(100), std::move(planned));
}

}  // namespace capstan::decide::place
