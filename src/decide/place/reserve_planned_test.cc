#include "decide/place/passes.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "decide/testing/placement.h"

namespace capstan::decide::place {
namespace {

TEST(ReservePlanned, SwitchedOffAPlannedReplicaTakesNoRoomAndLacksNone) {
  fleet::testing::World world;
  const NodeId node = world.node(0, 1);
  world.pool({world.offering(8, 0, 10)}, 64);
  const std::vector<model::PlannedGang> planned{{{0}, 1, {}}, {{0}, 2, {}}};
  const Decision on = place_once(world, {}, planned);
  EXPECT_TRUE(on.nominated.contains(node));
  EXPECT_EQ(on.shortfalls.size(), 1u) << "the node has room for one of the two";
  const Decision off = place_once(world, gang_without("reserve_planned"), planned);
  EXPECT_TRUE(off.nominated.empty());
  EXPECT_TRUE(off.shortfalls.empty());
}

TEST(ReservePlanned, ALeaderWithoutGpusTakesARoomOfItsOwnAndNoGpus) {
  fleet::testing::World world;
  for (int i = 0; i < 2; ++i) world.node(0);
  model::Workload& workload = world.catalog().services[0].workload;
  workload.gpus_per_replica = 16;
  workload.pods = 3;
  workload.required_level = TopologyLevel::rack;
  workload.leader = model::LeaderPod{};
  const std::vector<model::PlannedGang> planned{{{0}, 1, {}}};
  EXPECT_TRUE(place_once(world, {}, planned).shortfalls.empty()) << "two workers and a leader need two nodes";
  workload.leader->pod_class = world.pod_class({}, {.cpu_milli = 4'000});
  for (std::uint32_t node = 0; node < 2; ++node) world.set_available({node}, {.cpu_milli = 3'000});
  const Decision lacking = place_once(world, {}, planned);
  ASSERT_EQ(lacking.shortfalls.size(), 1u) << "no node has the CPU that the leader needs";
  EXPECT_EQ(lacking.shortfalls[0].short_by, MilliGpu{}) << "no GPUs are short";
}

TEST(ReservePlanned, NoNodeIsBoughtForReplicasWhosePodsHaveARuleThatCapstanDoesNotFollow) {
  fleet::testing::World world;
  world.pool({world.offering(8, 0, 10)}, 64);
  const std::vector<model::PlannedGang> planned{{{0}, 1, {}}};
  EXPECT_EQ(place_once(world, {}, planned).shortfalls.size(), 1u);
  const model::PodClassId pods = world.pod_class({true});
  world.catalog().services[0].workload.pod_class = pods;
  world.catalog().eligibility.pod_classes[pods.value].unsupported = model::PodRule::pod_anti_affinity;
  EXPECT_TRUE(place_once(world, {}, planned).shortfalls.empty());
}

}  // namespace
}  // namespace capstan::decide::place
