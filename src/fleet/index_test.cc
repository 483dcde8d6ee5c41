#include "fleet/index.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "fleet/testing/world.h"

namespace capstan::fleet {
namespace {

using testing::World;

TEST(Index, CountsFreeRoomByNodeAndByDomain) {
  World world;
  const NodeId a = world.node(0), b = world.node(1);
  world.bind(world.gang(3, 1, TopologyLevel::node), a);
  const Index index = build(world.snapshot);
  EXPECT_EQ(index.rooms.find(a)->free.sum, whole_gpus(5));
  EXPECT_EQ(index.rooms.find(b)->free.sum, whole_gpus(8));
  EXPECT_EQ(index.rooms.find({TopologyLevel::nvlink, world.nvlink(0), {0}})->free, whole_gpus(5));
  EXPECT_EQ(index.rooms.find({TopologyLevel::rack, world.rack(0), {0}})->free, whole_gpus(13));
  const FreeNodes::BySpace& by_space = index.rooms.nodes_of({0})->by_class().begin()->second;
  EXPECT_EQ(*by_space.begin()->second.begin(), a) << "the fullest node comes first";
}

TEST(Index, ATerminatingPodStillHoldsItsGpus) {
  World world;
  const NodeId a = world.node(0);
  const GangId gang = world.gang(1, 8, TopologyLevel::node);
  world.bind(gang, a);
  model::Pod pod = world.snapshot.pods.at(PodId{0});
  pod.phase = model::Pod::Phase::terminating;
  world.snapshot.pods.set(PodId{0}, pod);
  EXPECT_EQ(build(world.snapshot).rooms.find(a)->free.sum, MilliGpu{});
}

TEST(Index, ACordonedNodeHasNoRoom) {
  World world;
  const NodeId a = world.node(0);
  model::Node node = world.snapshot.nodes.at(a);
  node.phase = model::Node::Phase::cordoned;
  world.snapshot.nodes.set(a, node);
  const Index index = build(world.snapshot);
  EXPECT_EQ(index.rooms.nodes_of({0}), nullptr);
  EXPECT_FALSE(index.rooms.find(a)->open);
}

RC_GTEST_PROP(Index, ApplyingADeltaEqualsBuildingFromTheNextSnapshot, ()) {
  World world = testing::random_world();
  Index index = build(world.snapshot);
  for (int step = 0; step < 4; ++step) {
    const model::Delta delta = testing::change_at_random(world);
    apply(index, world.snapshot, delta);
    RC_ASSERT(index == build(world.snapshot));
  }
}

RC_GTEST_PROP(Index, FreeRoomEqualsADirectCount, ()) {
  World world = testing::random_world();
  const Index index = build(world.snapshot);
  world.snapshot.nodes.for_each([&](NodeId id, const model::Node& node) {
    MilliGpu used;
    world.snapshot.pods.for_each([&](PodId, const model::Pod& pod) {
      if (pod.node == id) used += pod.gpus;
    });
    RC_ASSERT(index.rooms.find(id)->free.sum == node.gpus - used);
  });
  for (const auto& [key, room] : index.rooms.domains()) {
    MilliGpu free;
    world.snapshot.nodes.for_each([&, key = key](NodeId id, const model::Node& node) {
      const bool open = node.phase == model::Node::Phase::ready;
      const bool inside = node.domains.domain_at(key.level) == key.domain;
      if (open && inside && node.gpu == key.gpu) free += index.rooms.find(id)->free.sum;
    });
    RC_ASSERT(room.free == free);
  }
}

RC_GTEST_PROP(Index, TheGroupsOfADomainAreThoseOfItsNodes, ()) {
  const World world = testing::random_world();
  const Index index = build(world.snapshot);
  std::map<DomainKey, FreeNodes> expected;
  world.snapshot.nodes.for_each([&](NodeId id, const model::Node&) {
    const NodeRoom& room = *index.rooms.find(id);
    if (!room.open) return;
    room.domains.for_each([&](model::Level level, DomainId domain) {
      if (level == TopologyLevel::node || (!domain.valid() && level != TopologyLevel::cluster)) return;
      expected[{level, domain, room.gpu}].insert(room.node_class, space_of(room), id);
    });
  });
  RC_ASSERT(expected.size() == index.rooms.domains().size());
  for (const auto& [key, nodes] : expected) RC_ASSERT(index.rooms.find(key)->nodes == nodes);
}

}  // namespace
}  // namespace capstan::fleet
