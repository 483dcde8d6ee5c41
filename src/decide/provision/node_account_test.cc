#include "decide/provision/node_account.h"

#include <gtest/gtest.h>

#include "decide/testing/both_layers.h"

namespace capstan::decide::provision {
namespace {

using model::ReasonCode;

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

  std::optional<model::Reason> refusal(std::int64_t count, std::vector<Memory::PendingLaunch> asked = {}) {
    return NodeAccount(fleet::build(world.snapshot), world.snapshot, asked).refusal(pool, offering, count);
  }
  std::optional<ReasonCode> code(std::int64_t count, std::vector<Memory::PendingLaunch> asked = {}) {
    return refusal(count, std::move(asked)).transform([](const model::Reason& why) { return why.code; });
  }
};

TEST(NodeAccount, CountsNodesClaimsAndLaunches) {
  PoolOfFleet fleet;
  EXPECT_EQ(fleet.code(3), std::nullopt) << "8 + 8 + 24 = 40";
  EXPECT_EQ(fleet.code(4), ReasonCode::pool_limit);
  Memory::PendingLaunch two;
  two.pool = fleet.pool;
  two.offering = fleet.offering;
  two.count = 2;
  EXPECT_EQ(fleet.code(1, {two}), std::nullopt);
  EXPECT_EQ(fleet.code(2, {two}), ReasonCode::pool_limit);
}

TEST(NodeAccount, NamesTheLimitOfTheFleet) {
  EXPECT_EQ(PoolOfFleet({.gpus = 23, .nodes = {}, .price_per_hour = {}}).code(1), ReasonCode::fleet_gpu_limit);
  EXPECT_EQ(PoolOfFleet({.gpus = {}, .nodes = 2, .price_per_hour = {}}).code(1), ReasonCode::fleet_node_limit);
  EXPECT_EQ(PoolOfFleet({.gpus = {}, .nodes = {}, .price_per_hour = MicroUsd{29'000'000}}).code(1),
            ReasonCode::fleet_price_limit);
  EXPECT_EQ(PoolOfFleet({.gpus = 24, .nodes = 3, .price_per_hour = MicroUsd{30'000'000}}).code(1), std::nullopt);
}

TEST(NodeAccount, TheOtherLimitsOfAPoolCountNodesThatTerminate) {
  PoolOfFleet fleet;
  model::Catalog& catalog = fleet.world.catalog();
  catalog.instance_types = {{.name = "p5.48xlarge", .cpu_milli = 192'000, .memory_mib = 2'097'152}};
  catalog.offerings[fleet.offering.value].type = {0};
  model::PoolLimits& limits = catalog.pools[fleet.pool.value].limits;
  limits.nodes = 3;
  EXPECT_EQ(fleet.code(1), std::nullopt);
  EXPECT_EQ(fleet.code(2), ReasonCode::pool_node_limit);
  limits.cpu_milli = 500'000;
  EXPECT_EQ(fleet.code(1), ReasonCode::pool_cpu_limit);
  limits = {.gpus = 40, .memory_mib = 3 * 2'097'152 - 1};
  EXPECT_EQ(fleet.code(1), ReasonCode::pool_memory_limit);
  fleet.world.snapshot.nodes.for_each([&](model::NodeId id, model::Node node) {
    node.phase = model::Node::Phase::terminating;
    fleet.world.snapshot.nodes.set(id, std::move(node));
  });
  EXPECT_EQ(fleet.code(1), ReasonCode::pool_memory_limit);
  catalog.offerings[fleet.offering.value].type = {};
  EXPECT_EQ(fleet.code(1), ReasonCode::pool_amount_unknown);
}

TEST(NodeAccount, AReasonHasTheNumbersOfItsLimit) {
  EXPECT_EQ(sentence(PoolOfFleet().refusal(4).value()),
            "32 more GPUs would exceed the limit of pool 0: 16 of 40 GPUs are in use or on the way");
}

}  // namespace
}  // namespace capstan::decide::provision
