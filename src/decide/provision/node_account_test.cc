#include "decide/provision/node_account.h"

#include <gtest/gtest.h>

#include "decide/testing/both_layers.h"

namespace capstan::decide::provision {
namespace {

using Limit = NodeAccount::Limit;

/// A pool of at most 40 GPUs with one node of 8 GPUs and one such node on its way, and a fleet with limits.
struct PoolOfFleet {
  World world;
  model::OfferingId offering = world.offering(8, 0, 10);
  model::PoolId pool = world.pool({offering}, 40);

  explicit PoolOfFleet(const model::FleetLimits& limits = {}) {
    const model::NodeId id = world.node(0);
    model::Node node = world.snapshot.nodes.at(id);
    node.pool = pool;
    node.offering = offering;
    world.snapshot.nodes.set(id, node);
    world.claim(pool, offering, model::Claim::Phase::requested, 0, {}, world.zone(0));
    world.catalog().limits = limits;
  }

  Limit exceeded(std::int64_t count, std::vector<Memory::PendingLaunch> asked = {}) {
    return NodeAccount(build(world.snapshot), world.snapshot, asked).exceeded(pool, offering, count);
  }
};

TEST(NodeAccount, CountsNodesClaimsAndLaunches) {
  PoolOfFleet fleet;
  EXPECT_EQ(fleet.exceeded(3), Limit::none) << "8 + 8 + 24 = 40";
  EXPECT_EQ(fleet.exceeded(4), Limit::pool_gpus);
  Memory::PendingLaunch two;
  two.pool = fleet.pool;
  two.offering = fleet.offering;
  two.count = 2;
  EXPECT_EQ(fleet.exceeded(1, {two}), Limit::none);
  EXPECT_EQ(fleet.exceeded(2, {two}), Limit::pool_gpus);
}

TEST(NodeAccount, NamesTheLimitOfTheFleet) {
  EXPECT_EQ(PoolOfFleet({.gpus = 23, .nodes = {}, .price_per_hour = {}}).exceeded(1), Limit::fleet_gpus);
  EXPECT_EQ(PoolOfFleet({.gpus = {}, .nodes = 2, .price_per_hour = {}}).exceeded(1), Limit::fleet_nodes);
  EXPECT_EQ(PoolOfFleet({.gpus = {}, .nodes = {}, .price_per_hour = MicroUsd{29'000'000}}).exceeded(1),
            Limit::fleet_price);
  EXPECT_EQ(PoolOfFleet({.gpus = 24, .nodes = 3, .price_per_hour = MicroUsd{30'000'000}}).exceeded(1), Limit::none);
}

TEST(NodeAccount, AReasonHasTheNumbersOfItsLimit) {
  PoolOfFleet fleet;
  const NodeAccount account(build(fleet.world.snapshot), fleet.world.snapshot, {});
  EXPECT_EQ(sentence(account.reason(Limit::pool_gpus, fleet.pool, fleet.offering, 4)),
            "32 more GPUs would exceed the limit of pool 0: 16 of 40 GPUs are in use or on the way");
}

}  // namespace
}  // namespace capstan::decide::provision
