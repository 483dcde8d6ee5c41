#include "plan/search/robustness.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "plan/figures.h"

namespace capstan::plan {

namespace {

/// A worse day than that of the plan.
struct WorseDay {
  std::string name{};
  const FleetOption* fleet = nullptr;
  Conditions conditions{};
};

std::vector<WorseDay> worse_days(const FleetSimulator& simulator, const FleetOption& fleet, const FleetOption* other) {
  std::vector<WorseDay> days = {{"cold starts twice as long", &fleet, {.start_percent = 200}}};
  const std::vector<std::string>& zones = simulator.spec().cluster.zones;
  if (zones.size() > 1) {
    const Duration at = std::max<Duration>(simulator.load().length / 3, std::chrono::seconds(1));
    days.push_back({fmt::format("zone {} lost", zones.front()), &fleet, {.lost_zone = zones.front(), .lost_at = at}});
  }
  days.push_back({"1.5 times the load", &fleet, {.load_percent = 150}});
  if (other != nullptr) {
    days.push_back(
        {fmt::format("1.5 times the load, with {}", scaler_word(other->scaler)), other, {.load_percent = 150}});
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
    worst.back().scenario = simulator.scenario(*days[i].fleet, days[i].conditions);
  }
  return worst;
}

}  // namespace capstan::plan
