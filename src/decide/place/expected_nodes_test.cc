#include "decide/place/expected_nodes.h"

#include <gtest/gtest.h>

#include "fleet/testing/world.h"

namespace capstan::decide::place {
namespace {

using fleet::testing::at;
using fleet::testing::World;

/// Adds a launched claim whose node should be ready at `ready_s`.
model::ClaimId expect(World& world, model::PoolId pool, model::OfferingId offering, std::int64_t ready_s,
                      model::DomainId domain = {}) {
  const model::ClaimId id = world.claim(pool, offering, model::Claim::Phase::launched, 0, {}, domain);
  model::Claim claim = world.snapshot.claims.at(id);
  claim.expected_ready_at = at(ready_s);
  world.snapshot.claims.set(id, claim);
  return id;
}

/// Returns the resources of new nodes that their instance types state. Empty nodes, the other source, are left out.
NewNodes stated_amounts(const World& world) { return NewNodes(world.snapshot, Rooms()); }

ExpectedNodes coming_in(const World& world, const NewNodes& new_nodes) {
  ExpectedNodes expected(new_nodes);
  expected.add_claims(world.snapshot, [](const model::Claim&) { return true; });
  return expected;
}

PlacementResult verdict_on(const World& world, model::GangId gang, std::int64_t now_s) {
  Index index = fleet::build(world.snapshot);
  Memory memory;
  const Decision decision = decide(index, world.snapshot, {}, {}, memory, at(now_s));
  for (const PlacementResult& verdict : decision.verdicts) {
    if (verdict.gang == gang) return verdict;
  }
  return {};
}

TEST(Nomination, AGangWithoutRoomIsNominatedToTheClaimThatIsReadyFirst) {
  World world;
  const auto eight = world.offering(8, 0, 10);
  const model::PoolId pool = world.pool({eight}, 64);
  expect(world, pool, eight, 300);
  const model::ClaimId first = expect(world, pool, eight, 129);
  const model::GangId gang = world.gang(1, 8, TopologyLevel::node);
  const PlacementResult verdict = verdict_on(world, gang, 9);
  EXPECT_EQ(verdict.kind, PlacementResult::Kind::nominated);
  EXPECT_EQ(verdict.why, (model::Reason{model::ReasonCode::nominated_to_claim, {1, first.value, pool.value, 120}}));
}

TEST(Nomination, ANodeThatIsNotReadyYetIsExpectedLikeItsClaimBefore) {
  World world;
  const auto eight = world.offering(8, 0, 10);
  const model::PoolId pool = world.pool({eight}, 64);
  const model::ClaimId id = expect(world, pool, eight, 129);
  const model::GangId gang = world.gang(1, 8, TopologyLevel::node);
  model::Node node = world.snapshot.nodes.at(world.node(0));
  const auto set = [&](model::Node::Phase phase, Instant ready_at) {
    node.phase = phase;
    node.ready_at = ready_at;
    node.claim = id;
    world.snapshot.nodes.set({0}, node);
  };
  model::Claim claim = world.snapshot.claims.at(id);
  claim.phase = model::Claim::Phase::registered;
  claim.node = {0};
  world.snapshot.claims.set(id, claim);

  set(model::Node::Phase::cordoned, Instant::never());
  EXPECT_EQ(verdict_on(world, gang, 9).kind, PlacementResult::Kind::nominated);
  EXPECT_FALSE(in_transit(claim, world.snapshot)) << "its row counts, so the claim does not";
  set(model::Node::Phase::cordoned, at(5));
  EXPECT_EQ(verdict_on(world, gang, 9).kind, PlacementResult::Kind::cannot_fit_now) << "it was ready, and is not now";
  set(model::Node::Phase::terminating, Instant::never());
  EXPECT_EQ(verdict_on(world, gang, 9).kind, PlacementResult::Kind::cannot_fit_now);
}

TEST(Nomination, NoGangWaitsForAClaimThatIsBeingGivenBack) {
  World world;
  const auto eight = world.offering(8, 0, 10);
  const model::ClaimId id = expect(world, world.pool({eight}, 64), eight, 129);
  model::Claim claim = world.snapshot.claims.at(id);
  claim.group = {3};
  world.snapshot.claims.set(id, claim);
  world.gang(1, 8, TopologyLevel::node);
  const auto kind = [&](const LeavingNodes& leaving) {
    Index index = fleet::build(world.snapshot);
    Memory memory;
    return decide(index, world.snapshot, {}, {}, memory, at(9), {.leaving = leaving}).verdicts.front().kind;
  };
  EXPECT_EQ(kind({}), PlacementResult::Kind::nominated);
  EXPECT_EQ(kind({.nodes = {}, .groups = {{3}}}), PlacementResult::Kind::cannot_fit_now);
}

TEST(Nomination, ThePredictedTimeOfAGangIsThatOfItsLastNode) {
  World world;
  const auto eight = world.offering(8, 0, 10);
  const model::PoolId pool = world.pool({eight}, 64);
  const model::ClaimId last = expect(world, pool, eight, 200);
  expect(world, pool, eight, 100);
  expect(world, pool, eight, 900);
  const model::GangId gang = world.gang(2, 8, TopologyLevel::zone);
  EXPECT_EQ(verdict_on(world, gang, 100).why,
            (model::Reason{model::ReasonCode::nominated_to_claim, {2, last.value, pool.value, 100}}));
}

TEST(Nomination, ATimeThatHasPassedIsOverdueAndAnUnknownTimeIsNotInvented) {
  World world;
  const auto eight = world.offering(8, 0, 10);
  const model::PoolId pool = world.pool({eight}, 64);
  const model::ClaimId claim = expect(world, pool, eight, 100);
  const model::GangId gang = world.gang(1, 8, TopologyLevel::node);
  EXPECT_EQ(verdict_on(world, gang, 160).why,
            (model::Reason{model::ReasonCode::nominated_overdue, {1, claim.value, pool.value, 60}}));
  model::Claim row = world.snapshot.claims.at(claim);
  row.expected_ready_at = Instant::never();
  world.snapshot.claims.set(claim, row);
  EXPECT_EQ(verdict_on(world, gang, 160).why,
            (model::Reason{model::ReasonCode::nominated_untimed, {1, claim.value, pool.value}}));
}

TEST(Nomination, AClaimServesTheOldestGangOnly) {
  World world;
  const auto eight = world.offering(8, 0, 10);
  const model::PoolId pool = world.pool({eight}, 64);
  expect(world, pool, eight, 100);
  const model::GangId young = world.gang(1, 8, TopologyLevel::node, 5), old = world.gang(1, 8, TopologyLevel::node, 1);
  EXPECT_EQ(verdict_on(world, old, 10).kind, PlacementResult::Kind::nominated);
  EXPECT_EQ(verdict_on(world, young, 10).kind, PlacementResult::Kind::cannot_fit_now);
}

TEST(Nomination, ClaimsThatCoverAPartOfAGangNominateNothing) {
  World world;
  const auto eight = world.offering(8, 0, 10);
  const model::PoolId pool = world.pool({eight}, 64);
  expect(world, pool, eight, 100);
  const model::GangId gang = world.gang(2, 8, TopologyLevel::zone);
  EXPECT_EQ(verdict_on(world, gang, 10).kind, PlacementResult::Kind::cannot_fit_now);
}

TEST(ExpectedNodes, OfTwoDomainsTheOneThatIsReadyFirstIsReserved) {
  World world;
  const auto here = world.offering(8, 0, 10), there = world.offering(8, 1, 10);
  const model::PoolId pool = world.pool({here, there}, 64);
  expect(world, pool, here, 300);
  const model::ClaimId sooner = expect(world, pool, there, 200);
  Shortfall lack;
  lack.spec.pods.gpu = {0};
  lack.spec.required_level = TopologyLevel::zone;
  lack.spec.pods.count = 1;
  lack.spec.pods.gpus_per_pod = lack.needed = lack.short_by = whole_gpus(8);
  lack.best_domain = world.zone(0);
  const NewNodes new_nodes = stated_amounts(world);
  ExpectedNodes expected = coming_in(world, new_nodes);
  const auto nomination = expected.nominate(lack);
  ASSERT_TRUE(nomination.has_value());
  EXPECT_EQ(nomination->last, sooner);
  for (const ExpectedNode& node : expected.nodes()) {
    EXPECT_EQ(node.free.sum, node.claim == sooner ? MilliGpu{} : whole_gpus(8));
  }
}

TEST(ExpectedNodes, ALaunchWithoutClaimsHasRoomAndNoTime) {
  World world;
  const auto eight = world.offering(8, 0, 10);
  const model::PoolId pool = world.pool({eight}, 64);
  const NewNodes new_nodes = stated_amounts(world);
  ExpectedNodes expected(new_nodes);
  expected.add({pool, eight}, {}, 2);
  EXPECT_EQ(expected.gpus(), 16);
  Shortfall lack;
  lack.spec.pods.gpu = {0};
  lack.spec.pods.count = 1;
  lack.spec.pods.gpus_per_pod = lack.needed = lack.short_by = whole_gpus(8);
  const auto nomination = expected.nominate(lack);
  ASSERT_TRUE(nomination.has_value());
  EXPECT_FALSE(nomination->last.valid());
  EXPECT_TRUE(nomination->ready_at.is_never());
}

}  // namespace
}  // namespace capstan::decide::place
