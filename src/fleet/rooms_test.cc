#include "fleet/rooms.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>

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

/// Returns the largest memory that the process has used so far, in KiB.
std::int64_t peak_memory_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(Rooms, ALargeIdCostsNoMemoryForTheIdsBelowIt) {
  const std::int64_t before = peak_memory_kib();
  Rooms rooms;
  rooms.set({10'000'000}, room(5, {1}));
  rooms.set({3}, room(2, {1}));
  EXPECT_LT(peak_memory_kib() - before, 64 * 1'024);
  EXPECT_EQ(rooms.find({9'999'999}), nullptr);
  EXPECT_EQ(rooms.find({10'000'000})->free.sum, whole_gpus(5));
  rooms.erase({10'000'000});
  Rooms other;
  other.set({3}, room(2, {1}));
  EXPECT_EQ(rooms, other);
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
