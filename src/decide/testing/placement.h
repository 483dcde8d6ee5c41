#pragma once

#include <cstddef>
#include <cstdint>
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

/// Adds a pending gang with several pod sets. The pods of the last set come first, as the leader of a group does.
inline model::GangId gang_of_sets(fleet::testing::World& world, const std::vector<model::PodSet>& sets,
                                  model::TopologyLevel level, std::int64_t at_s = 0) {
  std::int64_t pods = 0;
  for (const model::PodSet& set : sets) pods += set.count;
  const model::GangId id = world.gang(pods, 1, level, at_s);
  model::Gang row = world.snapshot.gangs.at(id);
  row.spec.pods = sets.front();
  row.spec.other_pods.assign(sets.begin() + 1, sets.end());
  world.snapshot.gangs.set(id, row);
  auto next = row.pods.begin();
  for (std::size_t set = sets.size(); set-- > 0;) {
    for (std::int64_t i = 0; i < sets[set].count; ++i, ++next) {
      model::Pod pod = world.snapshot.pods.at(*next);
      pod.set = static_cast<std::uint8_t>(set);
      pod.gpus = sets[set].gpus_per_pod;
      world.snapshot.pods.set(*next, pod);
    }
  }
  return id;
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
