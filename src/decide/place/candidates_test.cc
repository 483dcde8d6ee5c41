#include "decide/place/candidates.h"

#include <gtest/gtest.h>

#include "decide/place/place.h"
#include "fleet/testing/world.h"

namespace capstan::decide::place {
namespace {

using fleet::testing::at;
using fleet::testing::World;
using Outcome = Candidate::Outcome;

std::vector<Search> searches_of(const World& world, Detail detail = Detail::candidates,
                                Policy::Kind kind = Policy::Kind::gang) {
  Memory memory;
  Index index = fleet::build(world.snapshot);
  return decide(index, world.snapshot, {}, {.kind = kind}, memory, at(100), {.options = {.detail = detail}}).searches;
}

TEST(Candidates, TheFullestDomainWithRoomIsChosenAndEachOtherSaysWhyNot) {
  World world;
  world.node(0, 8);
  world.node(1, 4);
  world.node(2, 8);
  world.node(2, 8);
  const model::GangId gang = world.gang(8, 1, TopologyLevel::nvlink);
  const std::vector<Search> searches = searches_of(world);
  ASSERT_EQ(searches.size(), 1u);
  const Search& search = searches.front();
  EXPECT_EQ(search.gang, gang);
  EXPECT_EQ(search.level, model::Level(TopologyLevel::nvlink));
  EXPECT_EQ(search.pods, 8);
  EXPECT_EQ(search.places, 3);
  const std::vector<Candidate> expected = {
      {.domain = world.nvlink(0), .free = whole_gpus(8), .pods = 8, .outcome = Outcome::chosen},
      {.domain = world.nvlink(2), .free = whole_gpus(16), .pods = 8, .outcome = Outcome::worse_fit},
      {.domain = world.nvlink(1), .free = whole_gpus(4), .pods = 4, .outcome = Outcome::too_small},
  };
  EXPECT_EQ(search.candidates, expected);
  EXPECT_TRUE(searches_of(world, Detail::reasons).empty()) << "a controller without a page keeps none";
}

TEST(Candidates, ANodeThatThePodsMayNotUseSaysSo) {
  World world;
  const model::NodeId open = world.node(0, 2), closed = world.node(1, 8);
  world.classify(closed, {1});
  const model::GangId gang = world.gang(1, 4, TopologyLevel::node);
  world.classify(gang, world.pod_class({true, false}));
  const std::vector<Search> searches = searches_of(world);
  ASSERT_EQ(searches.size(), 1u);
  const std::vector<Candidate> expected = {
      {.node = open, .free = whole_gpus(2), .pods = 0, .outcome = Outcome::too_small},
      {.node = closed, .free = whole_gpus(8), .pods = 0, .outcome = Outcome::not_allowed},
  };
  EXPECT_EQ(searches.front().candidates, expected);
}

TEST(Candidates, FirstFitNamesTheNodesThatHaveNoRoom) {
  World world;
  const model::NodeId node = world.node(0, 2);
  world.gang(1, 4, TopologyLevel::node);
  const std::vector<Search> searches = searches_of(world, Detail::candidates, Policy::Kind::first_fit);
  ASSERT_EQ(searches.size(), 1u);
  ASSERT_EQ(searches.front().candidates.size(), 1u);
  EXPECT_EQ(searches.front().candidates.front().node, node);
}

TEST(Candidates, AreBounded) {
  World world;
  for (std::size_t i = 0; i < 100; ++i) world.node(i % 8, 2);
  for (std::size_t i = 0; i < 2 * kMaxSearches; ++i) world.gang(1, 4, TopologyLevel::node);
  const std::vector<Search> searches = searches_of(world);
  EXPECT_EQ(searches.size(), kMaxSearches);
  EXPECT_EQ(searches.front().places, 100);
  EXPECT_EQ(searches.front().candidates.size(), Search::kMaxShown);
}

}  // namespace
}  // namespace capstan::decide::place
