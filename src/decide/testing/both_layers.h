#pragma once

#include <algorithm>
#include <vector>

#include "decide/provision/provision.h"
#include "fleet/testing/world.h"

namespace capstan::decide::provision {

using fleet::testing::at;
using fleet::testing::World;

inline const place::Policy kFirstFit{.kind = place::Policy::Kind::first_fit};
inline const place::Policy kGang{.kind = place::Policy::Kind::gang};

/// Places the gangs of a snapshot and then decides about nodes, in the order of the control loop. Checks the invariants
/// after each pass.
inline Decision run(const World& world, const Policy& policy, Memory& memory, std::int64_t now_s) {
  Index index = fleet::build(world.snapshot);
  place::Memory placing;
  const place::Policy& place_policy = policy.kind == Policy::Kind::group ? kGang : kFirstFit;
  const place::Decision placed =
      place::decide(index, world.snapshot, {}, place_policy, placing, at(now_s), {.options = {.verify = Verify::yes}});
  return decide(index, world.snapshot, placed, policy, memory, at(now_s), {.verify = Verify::yes});
}

template <typename What>
std::vector<What> all(const Decision& decision) {
  std::vector<What> found;
  for (const model::Action& action : decision.plan.actions) {
    if (const What* what = std::get_if<What>(&action.effect)) found.push_back(*what);
  }
  return found;
}
inline std::vector<model::LaunchNodes> launches(const Decision& d) { return all<model::LaunchNodes>(d); }
inline std::vector<model::TerminateNode> ended(const Decision& d) { return all<model::TerminateNode>(d); }

inline Policy at_once() {
  Policy policy = karpenter();
  policy.batch_idle = policy.batch_max = {};
  policy.consolidation.enabled = false;
  return policy;
}

inline Policy groups() {
  Policy policy = whole_groups();
  policy.consolidation.enabled = false;
  return policy;
}

/// Two pools that sell the same nodes: a cheap one, and an expensive one with a higher weight and a limit.
struct WeightedPools {
  World world{};
  model::OfferingId cheap = world.offering(8, 0, 5);
  model::OfferingId preferred = world.offering(8, 0, 9);

  explicit WeightedPools(GpuCount limit_of_preferred) {
    world.pool({cheap}, 64);
    const model::PoolId heavy = world.pool({preferred}, limit_of_preferred);
    world.catalog().pools[heavy.value].weight = 10;
  }
};

inline bool kept_for(const Decision& decision, model::ReasonCode code) {
  return std::ranges::any_of(decision.plan.no_actions, [&](const auto& kept) { return kept.why.code == code; });
}

}  // namespace capstan::decide::provision
