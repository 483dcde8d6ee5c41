// Tests pods that ask for a part of a GPU, and nodes whose GPUs are used in part.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "decide/testing/placement.h"

namespace capstan::decide::place::shared_gpus_test {
namespace {

using fleet::testing::World;

/// Changes the GPUs of the pods of a gang, and the device of each pod if devices are stated.
void share(World& world, GangId id, std::int64_t gpus_milli, const std::vector<std::uint16_t>& devices = {}) {
  model::Gang gang = world.snapshot.gangs.at(id);
  gang.spec.pods.gpus_per_pod = {gpus_milli};
  for (std::size_t i = 0; i < gang.pods.size(); ++i) {
    model::Pod pod = world.snapshot.pods.at(gang.pods[i]);
    pod.gpus = {gpus_milli};
    if (!devices.empty()) pod.devices = {devices.at(i)};
    world.snapshot.pods.set(gang.pods[i], pod);
  }
  world.snapshot.gangs.set(id, gang);
}

Decision run(const World& world) { return place_once(world, {}); }

TEST(SharedGpus, FourHalfFreeGpusHoldNoPodOfAWholeGpu) {
  World world;
  const NodeId node = world.node(0, 4);
  const GangId halves = world.gang(4, 1, TopologyLevel::node);
  world.bind(halves, node);
  share(world, halves, 500, {0, 1, 2, 3});
  world.gang(2, 1, TopologyLevel::node);
  const Decision decision = run(world);
  EXPECT_TRUE(decision.plan.actions.empty());
  ASSERT_EQ(decision.verdicts.size(), 1U);
  EXPECT_NE(decision.verdicts[0].kind, PlacementResult::Kind::placed);
  share(world, halves, 500, {0, 0, 1, 1});
  EXPECT_EQ(run(world).verdicts.at(0).kind, PlacementResult::Kind::placed) << "two of the four GPUs are free";
}

TEST(SharedGpus, TheRestsOfSeveralGpusAreNotOneGpu) {
  World world;
  const NodeId node = world.node(0, 3);
  const GangId used = world.gang(3, 1, TopologyLevel::node);
  world.bind(used, node);
  share(world, used, 600);
  const GangId waiting = world.gang(1, 1, TopologyLevel::node);
  EXPECT_NE(run(world).verdicts.at(0).kind, PlacementResult::Kind::placed) << "1.2 GPUs are free, 0.4 on each device";
  share(world, waiting, 400);
  EXPECT_EQ(run(world).verdicts.at(0).kind, PlacementResult::Kind::placed);
}

TEST(SharedGpus, TwoGangsDoNotShareTheRestOfADevice) {
  World world;
  world.node(0, 1);
  const GangId first = world.gang(1, 1, TopologyLevel::node, 0), second = world.gang(1, 1, TopologyLevel::node, 1);
  share(world, first, 600);
  share(world, second, 400);
  const Decision both = run(world);
  EXPECT_EQ(both.verdicts.at(0).kind, PlacementResult::Kind::placed);
  EXPECT_EQ(both.verdicts.at(1).kind, PlacementResult::Kind::placed);
  share(world, second, 500);
  EXPECT_NE(run(world).verdicts.at(1).kind, PlacementResult::Kind::placed);
}

TEST(SharedGpus, APodOnAVanishedDeviceCountsAmongTheOthers) {
  World world;
  const NodeId node = world.node(0, 3);
  const GangId used = world.gang(2, 1, TopologyLevel::node);
  world.bind(used, node);
  share(world, used, 1'000, {0, 7});
  const GangId waiting = world.gang(1, 2, TopologyLevel::node);
  EXPECT_NE(run(world).verdicts.at(0).kind, PlacementResult::Kind::placed) << "kubelet would refuse the pod";
  share(world, waiting, 1'000);
  EXPECT_EQ(run(world).verdicts.at(0).kind, PlacementResult::Kind::placed);
  model::Node row = world.snapshot.nodes.at(node);
  row.gpus = {};
  world.snapshot.nodes.set(node, row);
  EXPECT_NE(run(world).verdicts.at(0).kind, PlacementResult::Kind::placed);
}

}  // namespace
}  // namespace capstan::decide::place::shared_gpus_test
