#include "decide/scale/supply.h"

#include <gtest/gtest.h>

#include <optional>

#include "decide/provision/purchase_limits.h"
#include "fleet/testing/world.h"

namespace capstan::decide::scale {
namespace {

using fleet::testing::at;
using fleet::testing::World;

/// A cluster with a pool that launches nodes of eight GPUs for 80 USD per hour.
struct Market {
  World world;
  model::OfferingId offering = world.offering(8, 0, 80);
  model::PoolId pool = world.pool({offering}, 24);
  provision::Memory bought;

  model::Workload& workload() { return world.catalog().services[0].workload; }
  Supply supply(ReplicaCount most = 100) {
    const Index index = fleet::build(world.snapshot);
    provision::PurchaseLimits capacity(index, world.snapshot, bought, at(100));
    return supply_of(index, world.catalog(), workload(), &capacity, most);
  }
};

/// The scale layer reads the provision layer's memory before that layer has seen the snapshot. A spot node may be gone
/// although the memory still lists it as terminating.
TEST(Supply, IgnoresATerminatingNodeThatIsAlreadyGone) {
  Market market;
  const std::optional<ReplicaCount> before = market.supply().further_replicas;
  market.bought.terminating = {{model::NodeId{1'000}, at(50)}};
  EXPECT_EQ(market.supply().further_replicas, before);
}

TEST(Supply, AReplicaCostsItsShareOfTheCheapestNode) {
  Market market;
  market.workload().gpus_per_replica = 2;
  EXPECT_EQ(market.supply().price_per_hour, MicroUsd{20'000'000});
  const model::OfferingId cheaper = market.world.offering(4, 0, 30);
  market.world.pool({cheaper}, 8);
  EXPECT_EQ(market.supply().price_per_hour, MicroUsd{15'000'000});
  market.workload().price_per_hour = {7};
  EXPECT_EQ(market.supply().price_per_hour, MicroUsd{7}) << "a stated price takes precedence";
}

TEST(Supply, CountsExistingIncomingAndPurchasableNodes) {
  Market market;
  market.workload().gpus_per_replica = 4;
  EXPECT_EQ(market.supply().further_replicas, 6) << "three nodes may be bought";
  market.world.node(0);
  EXPECT_EQ(market.supply().further_replicas, 8) << "and a node without a pool has room for two";
  market.world.claim(market.pool, market.offering, model::Claim::Phase::launched, 90);
  EXPECT_EQ(market.supply().further_replicas, 8) << "one of the three is on its way";
  EXPECT_EQ(market.supply(3).further_replicas, 3) << "the search stops at three";
  const model::GangId gang = market.world.gang(1, 6, model::TopologyLevel::node);
  market.world.bind(gang, {0});
  EXPECT_EQ(market.supply().further_replicas, 6) << "the node's two free GPUs are too few for a replica of four";
}

TEST(Supply, IgnoresNodesAndPurchasesThatDoNotAdmitThePods) {
  Market market;
  market.world.classify(market.world.node(0), model::NodeClassId{0});
  market.world.catalog().eligibility.purchases = {{{market.pool, market.offering}, {0}}};
  market.workload().pod_class = market.world.pod_class({false});
  EXPECT_EQ(market.supply().further_replicas, 0);
}

TEST(Supply, IsRefusedWhileEveryOfferingBacksOff) {
  Market market;
  EXPECT_FALSE(market.supply().refused);
  market.bought.backoffs.push_back({market.offering, 1, at(60), at(240)});
  EXPECT_TRUE(market.supply().refused);
  EXPECT_EQ(market.supply().further_replicas, 0);
  market.world.node(0);
  EXPECT_FALSE(market.supply().refused) << "an existing node has room";
}

TEST(Supply, IsUnknownIfAnotherSchedulerPlacesOrNoNodesAreBoughtHere) {
  Market market;
  EXPECT_EQ(supply_of({}, market.world.catalog(), market.workload(), nullptr, 100).further_replicas, std::nullopt);
  market.workload().placed_elsewhere = true;
  EXPECT_EQ(market.supply().further_replicas, std::nullopt);
}

}  // namespace
}  // namespace capstan::decide::scale
