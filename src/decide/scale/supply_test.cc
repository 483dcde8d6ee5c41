#include "decide/scale/supply.h"

#include <gtest/gtest.h>

#include <optional>

#include "decide/provision/capacity.h"
#include "decide/testing/world.h"

namespace capstan::decide::scale {
namespace {

using testing::at;
using testing::World;

/// Nodes of eight GPUs; a pool that sells more of them for 80 USD an hour.
struct Market {
  World world;
  model::OfferingId offering = world.offering(8, 0, 80);
  model::PoolId pool = world.pool({offering}, 24);
  provision::Memory bought;

  model::Variant& variant() { return world.catalog().services[0].variants[0]; }
  Supply supply(ReplicaCount most = 100) {
    const Index index = build(world.snapshot);
    provision::Capacity capacity(index, world.snapshot, bought, at(100));
    return supply_of(index, world.catalog(), variant(), &capacity, most);
  }
};

/// Scale reads what provision remembers before provision has seen the snapshot: a spot node may have been taken after
/// it was told to go.
TEST(Supply, ANodeThatWasToldToGoAndIsGoneCountsNothing) {
  Market market;
  const std::optional<ReplicaCount> before = market.supply().more;
  market.bought.terminating = {{model::NodeId{1'000}, at(50)}};
  EXPECT_EQ(market.supply().more, before);
}

TEST(Supply, AReplicaCostsItsShareOfTheCheapestNode) {
  Market market;
  market.variant().tensor_parallel = 2;
  EXPECT_EQ(market.supply().price_per_hour, MicroUsd{20'000'000});
  const model::OfferingId cheaper = market.world.offering(4, 0, 30);
  market.world.pool({cheaper}, 8);
  EXPECT_EQ(market.supply().price_per_hour, MicroUsd{15'000'000});
  market.variant().price_per_hour = {7};
  EXPECT_EQ(market.supply().price_per_hour, MicroUsd{7}) << "what is stated";
}

TEST(Supply, RoomIsWhatStandsWhatIsOnItsWayAndWhatMayBeBought) {
  Market market;
  market.variant().tensor_parallel = 4;
  EXPECT_EQ(market.supply().more, 6) << "three nodes may be bought";
  market.world.node(0);
  EXPECT_EQ(market.supply().more, 8) << "a node of nobody's pool stands beside them";
  market.world.claim(market.pool, market.offering, model::Claim::Phase::launched, 90);
  EXPECT_EQ(market.supply().more, 8) << "one of the three is on its way";
  EXPECT_EQ(market.supply(3).more, 3) << "more are not counted";
  const model::GangId gang = market.world.gang(1, 6, model::TopologyLevel::node);
  market.world.bind(gang, {0});
  EXPECT_EQ(market.supply().more, 6) << "two GPUs are no place for four";
}

TEST(Supply, WhatIsClosedToItIsNoRoom) {
  Market market;
  market.world.node(0);
  market.variant().closed = {.nodes = {{0}}, .purchases = {{market.pool, market.offering}}};
  EXPECT_EQ(market.supply().more, 0);
}

TEST(Supply, AfterCapacityErrorsItIsRefused) {
  Market market;
  EXPECT_FALSE(market.supply().refused);
  market.bought.backoffs.push_back({market.offering, 1, at(60), at(240)});
  EXPECT_TRUE(market.supply().refused);
  EXPECT_EQ(market.supply().more, 0);
  market.world.node(0);
  EXPECT_FALSE(market.supply().refused) << "there is room without buying";
}

TEST(Supply, WhereOthersPlaceOrBuyNobodyHereKnows) {
  Market market;
  EXPECT_EQ(supply_of({}, market.world.catalog(), market.variant(), nullptr, 100).more, std::nullopt);
  market.variant().placed_elsewhere = true;
  EXPECT_EQ(market.supply().more, std::nullopt);
}

}  // namespace
}  // namespace capstan::decide::scale
