#include "plan/search/all_spot.h"

#include <gtest/gtest.h>

#include "plan/sample_specs.h"
#include "plan/search/robustness.h"

namespace capstan::plan {
namespace {

/// A steady load on one or two machines, for twenty minutes.
class AllSpotTest : public ::testing::Test {
 protected:
  AllSpotTest() : spec_(sample_specs::small_spec()) {
    spec_.services[0].load.burst_factor = 1;
    const LoadFacts load = count_load(spec_.services[0]).value();
    auto candidates = fleet_candidates(spec_, spec_.services[0], load, {}).value();
    simulator_.emplace(spec_, spec_.services[0], load, std::move(candidates), options_);
  }

  std::optional<AllSpot> all_spot(const FleetKey& chosen = {0, 1, 0, ScalerKind::constant}) {
    ServicePlan plan{.holds_slo = true};
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) plan.seeds.push_back({.seed = seed});
    return try_all_spot(*simulator_, chosen, plan, {}).value();
  }

  PlanSpec spec_;
  SearchOptions options_{};
  std::optional<FleetSimulator> simulator_;
};

TEST_F(AllSpotTest, OneReclaimIsExpectedInEachSimulationAtLeast) {
  const FleetOption fleet = fleet_of(simulator_->candidates(), {0, 1, 0, ScalerKind::constant, true});
  const auto trial = [](std::int64_t spot_micro_usd) { return std::vector<Trial>{{.spot_micro_usd = spot_micro_usd}}; };
  EXPECT_EQ(stress_reclaims_ppm(spec_, fleet, {}), 40'000u) << "twice the 2 % an hour of the spec";
  EXPECT_EQ(stress_reclaims_ppm(spec_, fleet, trial(2'500'000 * 100)), 40'000u) << "100 node-hours have 4 reclaims";
  EXPECT_EQ(stress_reclaims_ppm(spec_, fleet, trial(2'500'000 * 4)), 250'000u) << "4 node-hours need 25 % for one";
  EXPECT_EQ(stress_reclaims_ppm(spec_, fleet, trial(2'500'000 / 3)), 1'000'000u) << "no scenario takes more";
}

TEST_F(AllSpotTest, TheNodesOfTheMinimumAreReclaimed) {
  const auto found = all_spot();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->seeds.size(), kSeeds);
  EXPECT_GT(found->seeds[0].spot_micro_usd, 0);
  EXPECT_EQ(found->seeds[0].spot_micro_usd, found->seeds[0].micro_usd) << "every node is spot";
  EXPECT_GT(found->reclaims.reclaimed, 0);
  EXPECT_EQ(found->reclaims.condition, TrialCondition::reclaims);
  EXPECT_NE(found->reclaims.scenario.find("spot_interruptions_per_hour: 100%"), std::string::npos)
      << found->reclaims.scenario;
  EXPECT_LE(found->reclaims.attainment_ppm, found->seeds[0].attainment_ppm);
}

TEST_F(AllSpotTest, IsNotSimulatedWhereNoSpotNodesMayBeBought) {
  EXPECT_FALSE(all_spot({0, 1, 0, ScalerKind::constant, true})) << "all nodes are spot already";
  spec_.cluster.capacity = {model::CapacityType::on_demand};
  EXPECT_FALSE(all_spot());
}

TEST_F(AllSpotTest, FindsTheMinimumUnderCapstan) {
  const auto key = find_all_spot_fleet(*simulator_, {0, 1, 500'000});
  ASSERT_TRUE(key.has_value() && key->has_value());
  EXPECT_TRUE((*key)->is_all_spot);
  EXPECT_EQ((*key)->spot_ppm, 0u);
  const TriedFleet& tried = simulator_->tried().at(**key);
  EXPECT_EQ(tried.seeds.size(), kSeeds);
  EXPECT_TRUE(tried.fleet.words().find(", all nodes spot") != std::string::npos) << tried.fleet.words();
}

TEST_F(AllSpotTest, AFleetWithSpotNodesHasAStressTestOfReclaims) {
  const std::vector<Trial> seeds = {{.seed = 1}, {.seed = 2}};
  const auto trials = [&](const FleetKey& key) {
    return robustness(*simulator_, fleet_of(simulator_->candidates(), key), seeds, nullptr, {}).value();
  };
  EXPECT_EQ(trials({0, 1, 1'000'000}).back().name, "4 % of spot nodes reclaimed an hour");
  EXPECT_EQ(trials({0, 1, 0}).back().condition, TrialCondition::more_load);
}

}  // namespace
}  // namespace capstan::plan
