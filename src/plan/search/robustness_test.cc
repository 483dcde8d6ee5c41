#include "plan/search/robustness.h"

#include <gtest/gtest.h>

#include "plan/testing/sample_specs.h"

namespace capstan::plan {
namespace {

/// A steady load on a constant fleet, for ten minutes.
class RobustnessTest : public ::testing::Test {
 protected:
  RobustnessTest() : spec_(sample_specs::small_spec()) {
    spec_.services[0].load.burst_factor = 1;
    spec_.services[0].load.duration = std::chrono::minutes(10);
    const LoadFacts load = count_load(spec_.services[0]).value();
    auto candidates = fleet_candidates(spec_, spec_.services[0], load, {}).value();
    simulator_.emplace(spec_, spec_.services[0], load, std::move(candidates), options_);
    fleet_ = fleet_of(simulator_->candidates(), {0, 1, 0, ScalerKind::constant});
  }

  std::vector<Trial> worst(const FleetOption* other, bool is_huge = false) {
    const std::vector<Trial> seeds = {{.seed = 1, .attainment_ppm = 999'000}, {.seed = 2, .attainment_ppm = 998'000}};
    return robustness(*simulator_, fleet_, seeds, other, {.is_huge = is_huge}).value();
  }

  PlanSpec spec_;
  SearchOptions options_{};
  std::optional<FleetSimulator> simulator_;
  FleetOption fleet_{};
};

TEST_F(RobustnessTest, HasTheWorstSeedOfEachCondition) {
  const std::vector<Trial> trials = worst(nullptr);
  ASSERT_EQ(trials.size(), 3u);
  EXPECT_EQ(trials[0].name, "cold starts twice as long");
  EXPECT_TRUE(trials[1].name.ends_with(" lost")) << trials[1].name;
  EXPECT_EQ(trials[2].name, "1.5 times the load");
  EXPECT_GT(trials[2].requests, trials[0].requests * 13 / 10);
  EXPECT_EQ(simulator_->simulations(), 6);
}

TEST_F(RobustnessTest, ComparesGrowthWithAnotherScaler) {
  const FleetOption capstan = fleet_of(simulator_->candidates(), {0, 1, 0});
  const std::vector<Trial> trials = worst(&capstan);
  ASSERT_EQ(trials.size(), 4u);
  EXPECT_EQ(trials[3].name, "1.5 times the load under Capstan");
}

TEST_F(RobustnessTest, TakesTheWorstSeedOfAHugeLoad) {
  for (const Trial& trial : worst(nullptr, true)) EXPECT_EQ(trial.seed, 2u) << trial.name;
  EXPECT_EQ(simulator_->simulations(), 3);
}

}  // namespace
}  // namespace capstan::plan
