#include "plan/search/service_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "plan/testing/sample_specs.h"

namespace capstan::plan {
namespace {

class ServiceSearchTest : public ::testing::Test {
 protected:
  FoundFleets found(const PlanSpec& spec, std::optional<SearchBudget> budget = {}) {
    spec_ = spec;
    const LoadFacts load = count_load(spec_.services[0]).value();
    auto candidates = fleet_candidates(spec_, spec_.services[0], load, {}).value();
    simulator_.emplace(spec_, spec_.services[0], load, std::move(candidates), options_);
    return find_fleets(*simulator_, budget.value_or(budget_of(load, 1))).value();
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

TEST_F(ServiceSearchTest, AFleetWithoutSimulationsHasNoTrialsAndMissesTheSlo) {
  const FoundFleets fleets = found(sample_specs::small_spec());
  EXPECT_EQ(simulator_->result(fleets.best).seeds.size(), kSeeds);
  FleetKey other = fleets.best;
  other.spot_base_ppm = 123;
  const TriedFleet unknown = simulator_->result(other);
  EXPECT_FALSE(unknown.holds_slo);
  EXPECT_TRUE(unknown.seeds.empty());
  EXPECT_EQ(unknown.key, other);
  EXPECT_EQ(unknown.fleet.candidate, &simulator_->candidates()[other.candidate]);
}

/// The budget may be used up while finalists are simulated that are no better than the best proven fleet.
TEST_F(ServiceSearchTest, EndsWhereverTheBudgetIsUsedUp) {
  PlanSpec spec = sample_specs::chat_spec();
  spec.services[0].slo.tpot = std::chrono::milliseconds(15);  // no fleet is certain to hold it
  found(spec, SearchBudget{.fleets = 1, .others = 1});
  const RequestCount first = simulator_->requests();
  for (RequestCount more = 1; more <= 16; ++more) {
    found(spec, SearchBudget{.fleets = 1, .others = first + more * 1'000});
    EXPECT_GE(simulator_->requests(), first);
  }
}

TEST_F(ServiceSearchTest, TheRunnerUpIsOfAnotherKind) {
  const FoundFleets fleets = found(sample_specs::chat_spec());
  ASSERT_TRUE(fleets.runner_up);
  const engine::EngineRow& best = simulator_->candidates()[fleets.best.candidate].engine;
  const engine::EngineRow& other = simulator_->candidates()[fleets.runner_up->candidate].engine;
  EXPECT_TRUE(best.gpu != other.gpu || best.tp != other.tp);
}

/// Returns true if a fleet of the candidate was simulated on the whole load.
bool is_tried(const FleetSimulator& simulator, std::size_t candidate) {
  return std::ranges::any_of(simulator.tried(), [&](const auto& entry) { return entry.first.candidate == candidate; });
}

TEST_F(ServiceSearchTest, FindsFastGpusThatTheModelledCostRanksLow) {
  // A hundredth of the prompts is so long that only the fastest GPUs compute it in time. The model knows the mean only.
  PlanSpec spec = sample_specs::spec_of(R"(
services:
  - name: long
    model: Llama-3.1-8B
    dtype: fp8
    slo: {ttft_p99: 2s}
    load: {requests_per_second: 6, burst_factor: 1, duration: 4m, answer_tokens: 100,
           prompt_tokens: {median: 3000, sigma: 1.6, longest: 120000}}
)");
  const FoundFleets fleets = found(spec);
  EXPECT_TRUE(simulator_->tried().at(fleets.best).holds_slo);
  EXPECT_GE(fleets.best.candidate, 8u) << simulator_->candidates()[fleets.best.candidate].words();
}

TEST_F(ServiceSearchTest, LeavesOutNoCandidateThatMayCostLess) {
  const FoundFleets fleets = found(sample_specs::chat_spec());
  const TriedFleet& best = simulator_->tried().at(fleets.best);
  ASSERT_TRUE(best.holds_slo);
  const std::vector<FleetCandidate>& candidates = simulator_->candidates();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].modelled_usd_per_hour * 1e6 >= static_cast<double>(best.micro_usd_per_hour())) continue;
    EXPECT_TRUE(is_tried(*simulator_, i)) << candidates[i].words();
  }
  EXPECT_GT(candidates.size(), 3u);
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
