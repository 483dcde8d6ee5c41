#include "plan/search/spot_base.h"

#include <gtest/gtest.h>

#include <map>

#include "plan/search/robustness.h"
#include "plan/testing/sample_specs.h"

namespace capstan::plan {
namespace {

/// A steady load on one or two machines, for twenty minutes.
class SpotBaseTest : public ::testing::Test {
 protected:
  SpotBaseTest() : spec_(sample_specs::small_spec()) {
    spec_.services[0].load.burst_factor = 1;
    const LoadFacts load = count_load(spec_.services[0]).value();
    auto candidates = fleet_candidates(spec_, spec_.services[0], load, {}).value();
    simulator_.emplace(spec_, spec_.services[0], load, std::move(candidates), options_);
  }

  std::optional<SpotBase> spot_base(const FleetKey& chosen = {0, 1, 0, ScalerKind::constant}) {
    ServicePlan plan{.holds_slo = true};
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) plan.seeds.push_back({.seed = seed});
    return try_spot_base(*simulator_, chosen, plan, {}).value();
  }

  PlanSpec spec_;
  SearchOptions options_{};
  std::optional<FleetSimulator> simulator_;
};

TEST_F(SpotBaseTest, OneReclaimIsExpectedInEachSimulationAtLeast) {
  const FleetOption fleet = fleet_of(simulator_->candidates(), {0, 1, 0, ScalerKind::constant, 1'000'000});
  const auto trial = [](std::int64_t spot_micro_usd) { return std::vector<Trial>{{.spot_micro_usd = spot_micro_usd}}; };
  EXPECT_EQ(stress_reclaims_ppm(spec_, fleet, {}), 40'000u) << "twice the 2 % an hour of the spec";
  EXPECT_EQ(stress_reclaims_ppm(spec_, fleet, trial(2'500'000 * 100)), 40'000u) << "100 node-hours have 4 reclaims";
  EXPECT_EQ(stress_reclaims_ppm(spec_, fleet, trial(2'500'000 * 4)), 250'000u) << "4 node-hours need 25 % for one";
  EXPECT_EQ(stress_reclaims_ppm(spec_, fleet, trial(2'500'000 / 3)), 1'000'000u) << "no scenario takes more";
}

TEST_F(SpotBaseTest, TheNodesOfTheMinimumAreReclaimed) {
  const auto found = spot_base();
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

TEST_F(SpotBaseTest, IsNotSimulatedWhereNoSpotNodesMayBeBought) {
  EXPECT_FALSE(spot_base({0, 1, 0, ScalerKind::constant, 1'000'000})) << "all nodes are spot already";
  spec_.cluster.capacity = {model::CapacityType::on_demand};
  EXPECT_FALSE(spot_base());
}

TEST_F(SpotBaseTest, FindsTheMinimumUnderCapstan) {
  const auto key = find_spot_base_fleet(*simulator_, {0, 1, 500'000}, 1'000'000, {});
  ASSERT_TRUE(key.has_value() && key->has_value());
  EXPECT_EQ((*key)->spot_base_ppm, 1'000'000u);
  EXPECT_EQ((*key)->spot_ppm, 0u);
  const TriedFleet& tried = simulator_->tried().at(**key);
  EXPECT_EQ(tried.seeds.size(), kSeeds);
  EXPECT_TRUE(tried.fleet.words().find(", all nodes spot") != std::string::npos) << tried.fleet.words();
}

TEST_F(SpotBaseTest, HalfOfTheBaseIsSpot) {
  const FleetOption fleet = fleet_of(simulator_->candidates(), {0, 3, 1'000'000, ScalerKind::capstan, 500'000});
  ASSERT_EQ(fleet.minimum_machines(), 3);
  EXPECT_EQ(fleet.spot_base_machines(), 1);
  EXPECT_EQ(fleet.spot_machines(), fleet.maximum_machines() - 2) << "the added nodes are spot, too";
  EXPECT_NE(fleet.words().find(", 50 % of the base spot"), std::string::npos) << fleet.words();
  const auto scenario = scenario::parse_scenario(simulator_->scenario(fleet), "scenario.yaml");
  ASSERT_TRUE(scenario) << scenario.error().text();
  std::map<model::CapacityType, std::int64_t> standing;
  for (const sim::ExistingNodes& nodes : scenario->cluster.existing) {
    standing[scenario->catalog->offering(nodes.offering).capacity] += nodes.count;
  }
  EXPECT_EQ(standing[model::CapacityType::on_demand], 2);
  EXPECT_EQ(standing[model::CapacityType::spot], 1);
}

TEST_F(SpotBaseTest, HalfOfTheBaseNeedsTwoNodes) {
  const auto one = find_spot_base_fleet(*simulator_, {0, 1, 0}, 500'000, {});
  ASSERT_TRUE(one);
  EXPECT_FALSE(*one) << "one node cannot be divided";
}

TEST_F(SpotBaseTest, MoreSpotInTheBaseCostsLessAtEveryMinimum) {
  for (const ReplicaCount step : {2, 3, 4}) {
    std::vector<std::int64_t> costs;
    for (const std::uint32_t share : {0u, 500'000u, 1'000'000u}) {
      const FleetKey key{0, step, share == 0 ? 1'000'000u : 0u, ScalerKind::capstan, share};
      FleetOrder order = simulator_->order(key, 1);
      if (share == 500'000u) order.fleet.spot_ppm = 1'000'000;
      ASSERT_TRUE(simulator_->run({order}, ""));
      costs.push_back(simulator_->tried().at(key).micro_usd_per_hour());
    }
    EXPECT_GT(costs[0], costs[1]) << step;
    EXPECT_GT(costs[1], costs[2]) << step;
  }
}

TEST_F(SpotBaseTest, AFleetWithSpotNodesHasAStressTestOfReclaims) {
  const std::vector<Trial> seeds = {{.seed = 1}, {.seed = 2}};
  const auto trials = [&](const FleetKey& key) {
    return robustness(*simulator_, fleet_of(simulator_->candidates(), key), seeds, nullptr, {}).value();
  };
  EXPECT_EQ(trials({0, 1, 1'000'000}).back().name, "4 % of spot nodes reclaimed an hour");
  EXPECT_EQ(trials({0, 1, 0}).back().condition, TrialCondition::more_load);
}

}  // namespace
}  // namespace capstan::plan
