#include "decide/place/passes.h"

#include <gtest/gtest.h>

#include "decide/testing/placement.h"

namespace capstan::decide::place {
namespace {

TEST(NominateClaims, SwitchedOffAGangForWhichANodeIsOnItsWayStatesOnlyWhatItLacks) {
  fleet::testing::World world;
  const model::OfferingId offering = world.offering(8, 0, 10);
  const model::PoolId pool = world.pool({offering}, 64);
  world.claim(pool, offering, model::Claim::Phase::launched, 90);
  world.gang(8, 1, TopologyLevel::node);
  EXPECT_EQ(place_once(world, {}).verdicts.at(0).kind, PlacementResult::Kind::nominated);
  const Decision off = place_once(world, gang_without("nominate_claims"));
  EXPECT_EQ(off.verdicts.at(0).kind, PlacementResult::Kind::cannot_fit_now);
  EXPECT_EQ(off.shortfalls.size(), 1u);
}

}  // namespace
}  // namespace capstan::decide::place
