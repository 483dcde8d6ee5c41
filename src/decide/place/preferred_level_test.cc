// Tests the level that a gang prefers, and levels of topologies besides the standard one.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "decide/place/place.h"
#include "fleet/testing/world.h"
#include "model/reason_sentence.h"

namespace capstan::decide::place {
namespace {

using fleet::testing::at;
using fleet::testing::World;
using model::Level;

template <typename Table, typename Id, typename Edit>
void edit_row(Table& table, Id id, Edit edit) {
  auto row = table.at(id);
  edit(row);
  table.set(id, std::move(row));
}

/// Nodes with these numbers of GPUs, one in each NVLink domain, and a gang of four pods of one GPU each.
struct PreferringGang {
  PreferringGang(Level required, Level preferred, std::vector<std::int64_t> gpus_by_nvlink) {
    for (std::size_t n = 0; n < gpus_by_nvlink.size(); ++n) world.node(n, gpus_by_nvlink[n]);
    gang = world.gang(4, 1, TopologyLevel::cluster);
    edit_row(world.snapshot.gangs, gang, [&](model::Gang& row) {
      row.spec.required_level = required;
      row.spec.preferred = preferred;
    });
  }

  Decision run() {
    Memory memory;
    Index index = fleet::build(world.snapshot);
    return decide(index, world.snapshot, {}, {}, memory, at(100));
  }
  /// Returns the nodes of the pods that the plan binds, and its reason.
  std::pair<std::set<std::uint32_t>, model::Reason> placed() {
    std::pair<std::set<std::uint32_t>, model::Reason> found;
    for (const model::Action& action : run().plan.actions) {
      for (const auto& binding : std::get<model::BindPods>(action.effect).bindings) {
        found.first.insert(binding.node.value);
      }
      found.second = action.why;
    }
    return found;
  }

  World world;
  GangId gang;
};

using enum TopologyLevel;
using Nodes = std::set<std::uint32_t>;

TEST(PreferredLevel, IsUsedIfItHasRoom) {
  PreferringGang world(zone, nvlink, {2, 2, 8, 4});
  const auto [nodes, why] = world.placed();
  EXPECT_EQ(nodes, Nodes{3}) << "the fullest NVLink domain with room, although the fuller rack 0 would do";
  EXPECT_EQ(sentence(why, world.world.catalog()),
            "4 pods fit into one NVLink domain, the preferred level, so the whole gang is placed");
}

TEST(PreferredLevel, IsWidenedStepByStepUpToTheRequiredOne) {
  PreferringGang rack_fits(zone, nvlink, {3, 0, 2, 2});
  EXPECT_EQ(rack_fits.placed().first, (Nodes{2, 3}));
  EXPECT_EQ(sentence(rack_fits.placed().second, rack_fits.world.catalog()),
            "4 pods fit into one rack, so the whole gang is placed; no NVLink domain, the preferred level, had room "
            "for all of them");
  PreferringGang zone_fits(zone, nvlink, {3, 0, 2, 1});
  EXPECT_EQ(zone_fits.placed().first.size(), 2u);
  EXPECT_EQ(zone_fits.placed().second, (model::Reason{model::ReasonCode::placed_wider, {4, 3, 1}}));
}

TEST(PreferredLevel, LeavesTheShortfallToTheRequiredLevel) {
  PreferringGang world(rack, nvlink, {3, 0, 2, 1});
  world.world.pool({world.world.offering(8, 0, 10)}, 64);
  const Decision decision = world.run();
  EXPECT_TRUE(decision.plan.actions.empty()) << "a zone would have room";
  ASSERT_EQ(decision.shortfalls.size(), 1u);
  EXPECT_EQ(decision.shortfalls[0].spec.required_level, Level(rack));
  EXPECT_EQ(decision.shortfalls[0].short_by, whole_gpus(1));
  EXPECT_EQ(decision.verdicts[0].why.code, model::ReasonCode::shortfall);
}

TEST(PreferredLevel, OfAGangWithBoundPodsIsThatOfTheirDomain) {
  PreferringGang fits(zone, nvlink, {2, 8, 8, 8});
  fits.world.bind_pod(fits.gang, 0, {0});
  EXPECT_EQ(fits.placed().first.size(), 2u) << "NVLink domain 0 has room for one more only, so its rack is used";
  EXPECT_EQ(fits.placed().second.code, model::ReasonCode::placed_wider);
  PreferringGang joins(zone, nvlink, {4, 8, 8, 8});
  joins.world.bind_pod(joins.gang, 0, {0});
  EXPECT_EQ(joins.placed().first, Nodes{0});
  EXPECT_EQ(joins.placed().second.code, model::ReasonCode::placed_as_preferred);
}

TEST(PreferredLevel, ThatIsWiderThanTheRequiredOneIsIgnored) {
  PreferringGang world(nvlink, zone, {2, 2, 2, 2});
  EXPECT_TRUE(world.run().plan.actions.empty());
}

TEST(PreferredLevel, SharesRefusalsWithGangsThatRequireTheLevel) {
  PreferringGang world(rack, nvlink, {3, 0, 2, 1});
  world.world.gang(4, 1, nvlink, 5);
  Memory memory;
  Index index = fleet::build(world.world.snapshot);
  for (int cycle = 0; cycle < 3; ++cycle) {
    const Decision decision = decide(index, world.world.snapshot, {}, {}, memory, at(100 + cycle));
    EXPECT_EQ(decision.verdicts.size(), 2u);
  }
  EXPECT_EQ(index.assumed.refusals.searches, 2u) << "one for each level";
}

/// Adds a topology whose one level, "spine", joins NVLink domains of two racks: 0 with 2, and 1 with 3.
Level add_spines(World& world) {
  model::Catalog& catalog = world.catalog();
  catalog.topologies.push_back({.name = "fabric", .levels = {{.name = "spine"}}});
  const Level spine = model::level_at(catalog.topologies, {1, 0});
  const auto first = static_cast<std::uint32_t>(catalog.domains.size());
  for (const char* name : {"spine-0", "spine-1"}) catalog.domains.push_back({name, spine, world.zone(0)});
  for (std::uint32_t n = 0; n < 4; ++n) {
    edit_row(world.snapshot.nodes, NodeId{n}, [&](model::Node& row) { row.domains.set(spine, {first + n % 2}); });
  }
  return spine;
}

TEST(OtherTopology, ItsDomainsHoldGangsTogether) {
  PreferringGang world(cluster, cluster, {3, 2, 0, 2});
  const Level spine = add_spines(world.world);
  edit_row(world.world.snapshot.gangs, world.gang, [&](model::Gang& row) {
    row.spec.required_level = spine;
    row.spec.preferred.reset();
  });
  EXPECT_EQ(world.placed().first, (Nodes{1, 3})) << "rack 0 has more room, and spine 1 has enough";
  EXPECT_EQ(sentence(world.placed().second, world.world.catalog()),
            "4 pods fit into one spine, so the whole gang is placed");
}

TEST(OtherTopology, APreferredSpineIsWidenedToTheCluster) {
  PreferringGang world(cluster, cluster, {3, 2, 0, 1});
  const Level spine = add_spines(world.world);
  edit_row(world.world.snapshot.gangs, world.gang, [&](model::Gang& row) { row.spec.preferred = spine; });
  EXPECT_EQ(world.placed().first, (Nodes{0, 3})) << "of two spines";
  EXPECT_EQ(sentence(world.placed().second, world.world.catalog()),
            "4 pods fit into one cluster, so the whole gang is placed; no spine, the preferred level, had room for "
            "all of them");
}

TEST(OtherTopology, TheIndexFollowsItsDomains) {
  PreferringGang world(cluster, cluster, {3, 2, 0, 1});
  const Level spine = add_spines(world.world);
  Index index = fleet::build(world.world.snapshot);
  const auto* spines = index.rooms.domains_by_free(spine, {0});
  ASSERT_NE(spines, nullptr);
  EXPECT_EQ(spines->size(), 2u);
  edit_row(world.world.snapshot.nodes, NodeId{0},
           [&](model::Node& row) { row.domains.set(spine, row.domains.domain_at(TopologyLevel::zone)); });
  model::Delta delta;
  delta.nodes.push_back({0});
  apply(index, world.world.snapshot, delta);
  EXPECT_EQ(index.rooms, fleet::build(world.world.snapshot).rooms);
}

}  // namespace
}  // namespace capstan::decide::place
