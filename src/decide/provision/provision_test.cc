#include "decide/provision/provision.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "decide/testing/both_layers.h"

namespace capstan::decide::provision {
namespace {

using model::Claim;
using model::ConsolidationPolicy;

TEST(ProvisionMemory, IsRefusedIfItIsIncomplete) {
  EXPECT_FALSE(parse_memory("provision-memory/2 0"));
  EXPECT_FALSE(parse_memory(""));
  EXPECT_TRUE(parse_memory(to_text(Memory{})));
}

// --- Properties ---

/// Returns the GPUs of a pool, including GPUs on their way.
GpuCount gpus_of(const World& world, model::PoolId pool) {
  GpuCount gpus = 0;
  world.snapshot.nodes.for_each(
      [&](NodeId, const model::Node& n) { gpus += n.pool == pool ? n.gpus.count / 1000 : 0; });
  world.snapshot.claims.for_each([&](model::ClaimId, const Claim& c) {
    gpus += c.pool == pool && c.phase != Claim::Phase::failed ? world.snapshot.catalog->offering(c.offering).gpus : 0;
  });
  return gpus;
}

RC_GTEST_PROP(Provision, KeepsTheLimitOverManyDecisionsAndRepeatsFromItsText, ()) {
  World world = fleet::testing::random_world();
  const auto a = world.offering(*rc::gen::element(1, 4, 8), 0, 9), b = world.offering(8, 1, 12);
  const GpuCount limit = *rc::gen::inRange<GpuCount>(0, 60);
  const auto pool = world.pool({a, b}, limit);
  Policy policy = *rc::gen::element(karpenter(), cluster_autoscaler(), whole_groups());
  policy.min_nodes = *rc::gen::inRange(0, 3);
  Memory memory;
  place::Memory placing;
  std::uint32_t group = 0;
  for (int step = 0; step < 8; ++step) {
    const Instant now = at(step * 11);
    Index index = fleet::build(world.snapshot);
    const place::Policy& place_policy = policy.kind == Policy::Kind::group ? kGang : kFirstFit;
    const place::Decision placed = place::decide(index, world.snapshot, {}, place_policy, placing, now);
    Memory saved = parse_memory(to_text(memory)).value();
    RC_ASSERT(saved == memory);
    const Decision decision = decide(index, world.snapshot, placed, policy, memory, now);
    RC_ASSERT(plan_hash(decide(index, world.snapshot, placed, policy, saved, now).plan) == plan_hash(decision.plan));
    RC_ASSERT(to_text(saved) == to_text(memory));

    for (const model::TerminateNode& end : ended(decision)) {
      const bool when_empty = policy.consolidation.policy == ConsolidationPolicy::when_empty;
      RC_ASSERT((!when_empty || !index.pods_by_node.contains(end.node)));
    }
    // Some launches produce claims, one of which may fail.
    for (const model::LaunchNodes& launch : launches(decision)) {
      RC_ASSERT(launch.count >= 1);
      const bool grouped = launch.hold > Duration{};
      for (std::int64_t i = 0; i < launch.count; ++i) {
        world.claim(launch.pool, launch.offering, Claim::Phase::requested, step * 11,
                    grouped ? model::ClaimGroupId{group} : model::ClaimGroupId{}, launch.domain);
      }
      group += grouped ? 1 : 0;
    }
    RC_ASSERT(gpus_of(world, pool) <= std::max<GpuCount>(limit, 0));
    if (world.next_claim > 0 && *rc::gen::inRange(0, 3) == 0) {
      const model::ClaimId id{*rc::gen::inRange<std::uint32_t>(0, world.next_claim)};
      Claim claim = world.snapshot.claims.at(id);
      claim.phase = Claim::Phase::failed;
      world.snapshot.claims.set(id, claim);
    }
  }
}

RC_GTEST_PROP(Provision, DecisionsLeaveTheIndexUnchanged, ()) {
  World world = fleet::testing::random_world();
  Index index = fleet::build(world.snapshot);
  const Index before = index;
  const auto kind = *rc::gen::element(place::Policy::Kind::first_fit, place::Policy::Kind::gang);
  place::Memory placing;
  const place::Decision placed =
      place::decide(index, world.snapshot, {}, {.kind = kind}, placing, at(100), {.options = {.verify = Verify::yes}});
  RC_ASSERT(index == before);
  provision::Policy policy =
      *rc::gen::element(provision::cluster_autoscaler(), provision::karpenter(), provision::whole_groups());
  policy.consolidation.after = {};
  provision::Memory memory;
  for (const int seconds : {100, 120, 140}) {
    provision::decide(index, world.snapshot, placed, policy, memory, at(seconds), {.verify = Verify::yes});
    RC_ASSERT(index == before);
  }
}

}  // namespace
}  // namespace capstan::decide::provision
