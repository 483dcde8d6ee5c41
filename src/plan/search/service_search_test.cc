#include "plan/search/service_search.h"

#include <gtest/gtest.h>

#include <optional>

#include "plan/sample_specs.h"

namespace capstan::plan {
namespace {

class ServiceSearchTest : public ::testing::Test {
 protected:
  FoundFleets found(const PlanSpec& spec) {
    spec_ = spec;
    const LoadFacts load = count_load(spec_.services[0]).value();
    auto candidates = fleet_candidates(spec_, spec_.services[0], load, {}).value();
    simulator_.emplace(spec_, spec_.services[0], load, std::move(candidates), options_);
    return find_fleets(*simulator_, budget_of(load, 1)).value();
  }

  PlanSpec spec_{};
  SearchOptions options_{};
  std::optional<FleetSimulator> simulator_;
};

TEST_F(ServiceSearchTest, ProvesTheBestUnderAllSeeds) {
  const FoundFleets fleets = found(sample_specs::small_spec());
  const TriedFleet& best = simulator_->tried().at(fleets.best);
  EXPECT_TRUE(best.holds_slo);
  EXPECT_EQ(best.seeds.size(), kSeeds);
  for (const auto& [key, fleet] : simulator_->tried()) {
    EXPECT_EQ(key.scaler, ScalerKind::capstan);
    if (fleet.seeds.size() < kSeeds) continue;
    EXPECT_FALSE(is_better(fleet, best)) << fleet.fleet.words();
  }
}

TEST_F(ServiceSearchTest, TheRunnerUpIsOfAnotherKind) {
  const FoundFleets fleets = found(sample_specs::chat_spec());
  ASSERT_TRUE(fleets.runner_up);
  const engine::EngineRow& best = simulator_->candidates()[fleets.best.candidate].engine;
  const engine::EngineRow& other = simulator_->candidates()[fleets.runner_up->candidate].engine;
  EXPECT_TRUE(best.gpu != other.gpu || best.tp != other.tp);
}

TEST(SearchBudget, IsSmallForShortLoadsAndDividedByServices) {
  const SearchBudget small = budget_of({.requests = 20'000}, 1), large = budget_of({.requests = 400'000}, 2);
  EXPECT_LT(small.fleets, large.fleets);
  EXPECT_FALSE(small.is_huge);
  EXPECT_TRUE(large.is_huge);
  EXPECT_EQ(budget_of({.requests = 20'000}, 2).scalers, small.scalers / 2);
}

}  // namespace
}  // namespace capstan::plan
