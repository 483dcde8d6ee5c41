#include "plan/search/robustness.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "plan/figures.h"
#include "plan/search/zone_loss.h"

namespace capstan::plan {

namespace {

/// A condition that is worse than the plan's.
struct WorseDay {
  std::string name{};
  const FleetOption* fleet = nullptr;
  TrialCondition condition = TrialCondition::planned;
  Conditions conditions{};
};

std::vector<WorseDay> worse_days(const FleetSimulator& simulator, const FleetOption& fleet, const FleetOption* other) {
  std::vector<WorseDay> days = {
      {"cold starts twice as long", &fleet, TrialCondition::slow_starts, {.start_percent = 200}}};
  if (const auto conditions = zone_loss_conditions(simulator)) {
    days.push_back(
        {fmt::format("zone {} lost", *conditions->lost_zone), &fleet, TrialCondition::zone_lost, *conditions});
  }
  days.push_back({"1.5 times the load", &fleet, TrialCondition::more_load, {.load_percent = 150}});
  if (other != nullptr) {
    days.push_back({fmt::format("1.5 times the load under {}", scaler_word(other->scaler)),
                    other,
                    TrialCondition::more_load,
                    {.load_percent = 150}});
  }
  return days;
}

}  // namespace

Result<std::vector<Trial>> robustness(FleetSimulator& simulator, const FleetOption& fleet,
                                      const std::vector<Trial>& seeds, const FleetOption* other,
                                      const SearchBudget& budget) {
  std::vector<std::uint64_t> tried;
  for (const Trial& trial : seeds) tried.push_back(trial.seed);
  if (budget.is_huge) tried = {std::ranges::min_element(seeds, {}, &Trial::attainment_ppm)->seed};
  const std::vector<WorseDay> days = worse_days(simulator, fleet, other);
  std::vector<TrialOrder> orders;
  for (const WorseDay& day : days) {
    for (const std::uint64_t seed : tried) orders.push_back({*day.fleet, day.conditions, seed});
  }
  const auto results = simulator.run_worse(orders);
  if (!results) return std::unexpected(results.error());
  std::vector<Trial> worst;
  for (std::size_t i = 0; i < days.size(); ++i) {
    std::vector<Trial> trials;
    for (std::size_t j = 0; j < tried.size(); ++j) {
      trials.push_back(trial_of(days[i].name, (*results)[i * tried.size() + j]));
    }
    worst.push_back(std::move(*std::ranges::min_element(trials, {}, &Trial::attainment_ppm)));
    worst.back().condition = days[i].condition;
    worst.back().scenario = simulator.scenario(*days[i].fleet, days[i].conditions);
  }
  return worst;
}

}  // namespace capstan::plan
