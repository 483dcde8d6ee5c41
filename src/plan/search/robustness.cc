#include "plan/search/robustness.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "plan/result/figures.h"
#include "plan/search/spot_base.h"
#include "plan/search/zone_loss.h"

namespace capstan::plan {

namespace {

/// A condition that is worse than the plan's.
struct StressTest {
  std::string name{};
  const FleetOption* fleet = nullptr;
  TrialCondition condition = TrialCondition::planned;
  Conditions conditions{};
};

std::vector<StressTest> stress_tests(const FleetSimulator& simulator, const FleetOption& fleet,
                                     const FleetOption* other) {
  std::vector<StressTest> tests = {
      {"cold starts twice as long", &fleet, TrialCondition::slow_starts, {.start_percent = 200}}};
  if (const auto conditions = zone_loss_conditions(simulator)) {
    tests.push_back(
        {fmt::format("zone {} lost", *conditions->lost_zone), &fleet, TrialCondition::zone_lost, *conditions});
  }
  tests.push_back({"1.5 times the load", &fleet, TrialCondition::more_load, {.load_percent = 150}});
  if (other != nullptr) {
    tests.push_back({fmt::format("1.5 times the load under {}", scaler_word(other->scaler)),
                     other,
                     TrialCondition::more_load,
                     {.load_percent = 150}});
  }
  return tests;
}

}  // namespace

Result<std::vector<Trial>> robustness(FleetSimulator& simulator, const FleetOption& fleet,
                                      const std::vector<Trial>& seeds, const FleetOption* other,
                                      const SearchBudget& budget) {
  std::vector<std::uint64_t> tried;
  for (const Trial& trial : seeds) tried.push_back(trial.seed);
  if (budget.is_huge) tried = {std::ranges::min_element(seeds, {}, &Trial::attainment_ppm)->seed};
  const std::vector<StressTest> tests = stress_tests(simulator, fleet, other);
  std::vector<TrialOrder> orders;
  for (const StressTest& test : tests) {
    for (const std::uint64_t seed : tried) orders.push_back({*test.fleet, test.conditions, seed});
  }
  const auto results = simulator.run_stress_tests(orders);
  if (!results) return std::unexpected(results.error());
  std::vector<Trial> worst;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    std::vector<Trial> trials;
    for (std::size_t j = 0; j < tried.size(); ++j) {
      trials.push_back(trial_of(tests[i].name, (*results)[i * tried.size() + j]));
    }
    worst.push_back(std::move(*std::ranges::min_element(trials, {}, &Trial::attainment_ppm)));
    worst.back().condition = tests[i].condition;
    worst.back().scenario = simulator.scenario(*tests[i].fleet, tests[i].conditions);
  }
  if (!fleet.has_spot()) return worst;
  Result<Trial> reclaims = simulate_reclaims(simulator, fleet, seeds, budget);
  if (!reclaims) return std::unexpected(reclaims.error());
  worst.push_back(std::move(*reclaims));
  return worst;
}

}  // namespace capstan::plan
