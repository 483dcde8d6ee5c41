#include "model/topology.h"

#include <gtest/gtest.h>

#include "model/catalog.h"
#include "model/named_level.h"

namespace capstan::model {
namespace {

std::vector<Topology> two_trees() {
  return {standard_topology(),
          {.name = "fabric", .levels = {{.name = "hall"}, {.name = "spine"}, {.name = "leaf"}}},
          {.name = "power", .levels = {{.name = "feed"}}}};
}

TEST(Topology, LevelsOfTheStandardTopologyKeepTheirNumbers) {
  const std::vector<Topology> trees = two_trees();
  for (const TopologyLevel level : {TopologyLevel::nvlink, TopologyLevel::rack, TopologyLevel::zone}) {
    const std::optional<LevelPosition> at = position_of(trees, level);
    ASSERT_TRUE(at);
    EXPECT_EQ(at->topology, 0u);
    EXPECT_EQ(level_at(trees, *at), level);
    EXPECT_EQ(next_wider(trees, level), Level(static_cast<std::uint8_t>(Level(level).number() + 1)));
  }
  EXPECT_FALSE(position_of(trees, TopologyLevel::node));
  EXPECT_FALSE(next_wider(trees, TopologyLevel::cluster));
}

TEST(Topology, EachLevelHasAKeyThatLeadsBackToIt) {
  const std::vector<Topology> trees = two_trees();
  const char* const keys[] = {"node",        "nvlink",       "rack",        "zone",      "cluster",
                              "fabric/leaf", "fabric/spine", "fabric/hall", "power/feed"};
  for (std::uint8_t number = 0; number < std::size(keys); ++number) {
    EXPECT_EQ(level_key(trees, Level(number)), keys[number]);
    EXPECT_EQ(level_of_key(trees, keys[number]), Level(number));
  }
  for (const char* unknown : {"", "leaf", "fabric", "fabric/", "power/leaf", "standard/rack"}) {
    EXPECT_FALSE(level_of_key(trees, unknown)) << unknown;
  }
  EXPECT_EQ(level_words(trees, TopologyLevel::nvlink), "NVLink domain");
  EXPECT_EQ(level_words(trees, Level(6)), "spine");
  EXPECT_EQ(level_words(trees, Level(200)), "domain");
}

TEST(Topology, NamesOfLevelsBelongToOneTopology) {
  const std::vector<Topology> trees = two_trees();
  EXPECT_EQ(level_named(trees, 1, "spine"), Level(6));
  EXPECT_EQ(level_named(trees, 0, "rack"), Level(TopologyLevel::rack));
  EXPECT_EQ(level_named(trees, 2, "cluster"), Level(TopologyLevel::cluster));
  EXPECT_EQ(level_named(trees, 1, "node"), Level(TopologyLevel::node));
  EXPECT_FALSE(level_named(trees, 1, "feed"));
  EXPECT_FALSE(level_named(trees, 1, "rack"));
}

TEST(Topology, WidensInsideATopologyAndThenToTheCluster) {
  const std::vector<Topology> trees = two_trees();
  const Level leaf(5), spine(6), hall(7), feed(8);
  EXPECT_EQ(next_wider(trees, leaf), spine);
  EXPECT_EQ(next_wider(trees, hall), Level(TopologyLevel::cluster));
  EXPECT_EQ(next_wider(trees, feed), Level(TopologyLevel::cluster));
  EXPECT_TRUE(is_wider(trees, hall, leaf));
  EXPECT_FALSE(is_wider(trees, leaf, hall));
  EXPECT_FALSE(is_wider(trees, leaf, leaf));
  EXPECT_TRUE(is_wider(trees, leaf, TopologyLevel::node));
  EXPECT_TRUE(is_wider(trees, TopologyLevel::cluster, hall));
  EXPECT_FALSE(is_wider(trees, feed, leaf)) << "levels of two topologies do not compare";
  EXPECT_FALSE(is_wider(trees, TopologyLevel::zone, leaf));
}

TEST(Topology, TriesThePreferredLevelAndThenWiderOnes) {
  const std::vector<Topology> trees = two_trees();
  const Level leaf(5), spine(6), hall(7), feed(8);
  using Levels = std::vector<Level>;
  using enum TopologyLevel;
  EXPECT_EQ(levels_to_try(trees, zone, nvlink), (Levels{nvlink, rack, zone}));
  EXPECT_EQ(levels_to_try(trees, rack, std::nullopt), (Levels{rack}));
  EXPECT_EQ(levels_to_try(trees, rack, rack), (Levels{rack}));
  EXPECT_EQ(levels_to_try(trees, cluster, leaf), (Levels{leaf, spine, hall, cluster}));
  EXPECT_EQ(levels_to_try(trees, hall, leaf), (Levels{leaf, spine, hall}));
  EXPECT_EQ(levels_to_try(trees, rack, zone), (Levels{rack})) << "wider than the required level";
  EXPECT_EQ(levels_to_try(trees, hall, feed), (Levels{hall})) << "a level of another topology";
  EXPECT_EQ(levels_to_try(trees, rack, node), (Levels{node, nvlink, rack}));
  EXPECT_EQ(levels_to_try(trees, hall, node), (Levels{node, leaf, spine, hall}));
}

TEST(Topology, NamesTheFirstDefectOfTopologies) {
  struct Row {
    const char* teaches;
    void (*make)(std::vector<Topology>&);
    std::size_t topology;
    std::optional<std::size_t> depth;
    const char* field;
    const char* message;
  };
  const Row rows[] = {
      {"a name", [](auto& t) { t[1].name = ""; }, 1, {}, "name", "found \"\", expected a name without \"/\""},
      {"keys contain a slash", [](auto& t) { t[1].levels[1].name = "a/b"; }, 1, 1, "name",
       "found \"a/b\", expected a name without \"/\""},
      {"the standard topology exists",
       [](auto& t) { t[2].name = "standard"; },
       2,
       {},
       "name",
       "found standard a second time, expected each topology once"},
      {"no level", [](auto& t) { t[2].levels.clear(); }, 2, {}, "levels", "found 0 levels, expected 1 to 16"},
      {"too deep", [](auto& t) { t[2].levels.resize(17); }, 2, {}, "levels", "found 17 levels, expected 1 to 16"},
      {"a level twice", [](auto& t) { t[1].levels[2].name = "hall"; }, 1, 2, "name",
       "found hall a second time, expected each level once"},
      {"a label twice", [](auto& t) { t[1].levels[0].node_label = t[1].levels[1].node_label = "l"; }, 1, 1,
       "node_label", "found l, the label of level hall, expected another label"},
      {"levels of all topologies", [](auto& t) { t[1].levels[0].name = "cluster"; }, 1, 0, "name",
       "found cluster, which is a level of all topologies, expected another name"},
  };
  EXPECT_FALSE(find_fault(two_trees()));
  for (const Row& row : rows) {
    std::vector<Topology> trees = two_trees();
    row.make(trees);
    const std::optional<TopologyFault> fault = find_fault(trees);
    ASSERT_TRUE(fault) << row.teaches;
    EXPECT_EQ(fault->topology, row.topology) << row.teaches;
    EXPECT_EQ(fault->depth, row.depth) << row.teaches;
    EXPECT_EQ(fault->field, row.field) << row.teaches;
    EXPECT_EQ(fault->message, row.message) << row.teaches;
  }
}

TEST(Topology, SixteenTopologiesOfSixteenLevelsAreTooMany) {
  std::vector<Topology> trees = {standard_topology()};
  for (int t = 0; t < 16; ++t) {
    trees.push_back({.name = "t" + std::to_string(t), .levels = {}});
    for (int depth = 0; depth < 16; ++depth) trees.back().levels.push_back({.name = "l" + std::to_string(depth)});
  }
  const std::optional<TopologyFault> fault = find_fault(trees);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->topology, 16u);
  EXPECT_EQ(fault->message, "found 261 levels in all topologies, expected at most 255");
}

TEST(DomainPath, HoldsDomainsOfAllTopologies) {
  DomainPath path;
  EXPECT_EQ(path, DomainPath());
  EXPECT_FALSE(path.domain_at(Level(6)).valid());
  path.set(Level(6), {3});
  path.set(TopologyLevel::zone, {1});
  EXPECT_EQ(path.domain_at(Level(6)), DomainId{3});
  EXPECT_FALSE(path.domain_at(Level(5)).valid());
  EXPECT_EQ(path.domain_at(TopologyLevel::zone), DomainId{1});
  std::vector<std::pair<Level, DomainId>> known;
  path.for_each([&](Level level, DomainId domain) {
    if (domain.valid()) known.push_back({level, domain});
  });
  EXPECT_EQ(known, (std::vector<std::pair<Level, DomainId>>{{TopologyLevel::zone, {1}}, {Level(6), {3}}}));
}

TEST(Catalog, TellsWhichLevelsALaunchCanChoose) {
  Catalog catalog;
  EXPECT_TRUE(catalog.is_chosen_at_launch(TopologyLevel::nvlink));
  EXPECT_FALSE(catalog.is_chosen_at_launch(TopologyLevel::node)) << "a node is no domain";
  catalog.topologies.front().levels.back().is_chosen_at_launch = false;
  EXPECT_FALSE(catalog.is_chosen_at_launch(TopologyLevel::nvlink));
  EXPECT_TRUE(catalog.is_chosen_at_launch(TopologyLevel::rack));
}

}  // namespace
}  // namespace capstan::model
