#include "fleet/rooms.h"

#include <gtest/gtest.h>

namespace capstan::fleet {
namespace {

NodeRoom room(std::int64_t free, DomainId rack) {
  NodeRoom room{.gpu = {0}, .gpus = whole_gpus(8), .free = {whole_gpus(free)}, .open = true, .domains = {}};
  room.domains.set(TopologyLevel::rack, rack);
  return room;
}

TEST(Rooms, TheDomainWithTheFewestFreeGpusComesFirst) {
  Rooms rooms;
  rooms.set({0}, room(5, {1}));
  rooms.set({1}, room(3, {2}));
  rooms.set({2}, room(1, {2}));
  const auto* domains = rooms.domains_by_free(TopologyLevel::rack, {0});
  ASSERT_NE(domains, nullptr);
  EXPECT_EQ(*domains, (std::set<std::pair<MilliGpu, DomainId>>{{whole_gpus(4), {2}}, {whole_gpus(5), {1}}}));
  rooms.take({0}, whole_gpus(2), {});
  EXPECT_EQ(domains->begin()->second, DomainId{1});
  EXPECT_EQ(rooms.find({TopologyLevel::rack, {1}, {0}})->free, whole_gpus(3));
}

TEST(Rooms, RoomsWithoutNodesEqualEmptyRooms) {
  Rooms rooms;
  rooms.set({7}, room(5, {1}));
  EXPECT_NE(rooms, Rooms{});
  rooms.erase({7});
  rooms.erase({8});
  EXPECT_EQ(rooms, Rooms{});
}

TEST(Rooms, ANodeThatIsNotOpenIsInNoDomain) {
  Rooms rooms;
  NodeRoom closed = room(8, {1});
  closed.open = false;
  rooms.set({0}, closed);
  EXPECT_NE(rooms.find(NodeId{0}), nullptr);
  EXPECT_EQ(rooms.nodes_of({0}), nullptr);
  EXPECT_TRUE(rooms.domains().empty());
}

}  // namespace
}  // namespace capstan::fleet
