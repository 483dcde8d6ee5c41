#include "decide/provision/passes.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "decide/testing/both_layers.h"

namespace capstan::decide::provision {
namespace {

Policy without(Policy policy, std::string pass) {
  policy.off.insert(std::move(pass));
  return policy;
}

std::size_t actions_at(const World& world, const Policy& policy, std::int64_t now_s) {
  Memory memory;
  return run(world, policy, memory, now_s).plan.actions.size();
}

TEST(ProvisionPasses, AReleasedGroupIsRememberedEvenIfNoActionIsWritten) {
  World world;
  const model::OfferingId offering = world.offering(8, 0, 10);
  const model::PoolId pool = world.pool({offering}, 64);
  world.gang(2, 8, TopologyLevel::zone);
  Memory on;
  ASSERT_EQ(launches(run(world, groups(), on, 0)).size(), 1u);
  Memory off = on;
  world.claim(pool, offering, model::Claim::Phase::failed, 0, {7}, world.zone(0));
  world.claim(pool, offering, model::Claim::Phase::launched, 0, {7}, world.zone(0));
  EXPECT_EQ(all<model::ReleaseGroup>(run(world, groups(), on, 1)).size(), 1u);
  EXPECT_TRUE(all<model::ReleaseGroup>(run(world, without(groups(), "release_groups"), off, 1)).empty());
  EXPECT_EQ(on.groups, off.groups);
}

TEST(ProvisionPasses, TheMinimumIsNotBoughtIfItsPassIsOff) {
  World world;
  world.pool({world.offering(8, 0, 10)}, 64);
  Policy policy = at_once();
  policy.min_nodes = 2;
  EXPECT_EQ(actions_at(world, policy, 0), 2u);
  EXPECT_EQ(actions_at(world, without(policy, "buy_minimum"), 0), 0u);
}

TEST(ProvisionPasses, NoNodeIsBoughtForPodsOrGangsIfTheirPassIsOff) {
  World world;
  world.pool({world.offering(8, 0, 10)}, 64);
  world.gang(1, 8, TopologyLevel::node);
  EXPECT_EQ(actions_at(world, at_once(), 0), 1u);
  EXPECT_EQ(actions_at(world, without(at_once(), "buy_for_pods"), 0), 0u);
  EXPECT_EQ(actions_at(world, groups(), 0), 1u);
  EXPECT_EQ(actions_at(world, without(groups(), "buy_for_gangs"), 0), 0u);
}

}  // namespace
}  // namespace capstan::decide::provision
