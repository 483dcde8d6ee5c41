#include "plan/search/widened_search.h"

#include <algorithm>
#include <utility>

namespace capstan::plan {

namespace {

/// Largest number of searches among larger fleets. Each search doubles the largest fleet of some candidates.
constexpr int kMaxWidenings = 2;
constexpr int kMaxHugeWidenings = 1;  ///< the same for a huge load

}  // namespace

void widen(FleetCandidate& candidate) {
  candidate.peak_factor *= 2;
  for (RoleNeed& need : candidate.needs) need.at_peak *= 2;
}

std::vector<std::size_t> too_small_candidates(const FleetSimulator& simulator, const FoundFleets& found) {
  const std::vector<FleetCandidate>& candidates = simulator.candidates();
  const TriedFleet best = simulator.result(found.best);
  const auto is_too_small = [&](std::size_t i) {
    if (limits_bind(candidates[i])) return false;
    return !best.holds_slo || std::ranges::any_of(simulator.tried(), [&](const auto& entry) {
      const auto& [key, fleet] = entry;
      return key.candidate == i && !fleet.holds_slo && key.step >= highest_step(candidates[i]) &&
             fleet.micro_usd_per_hour() < best.micro_usd_per_hour();
    });
  };
  std::vector<std::size_t> narrow;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (is_too_small(i)) narrow.push_back(i);
  }
  return narrow;
}

Result<FinishedSearch> find_fleets_widened(const PlanSpec& spec, const ServiceSpec& service, const LoadFacts& load,
                                           std::vector<FleetCandidate> candidates, const SearchBudget& budget,
                                           const SearchOptions& options) {
  FinishedSearch finished;
  const int most = budget.is_huge ? kMaxHugeWidenings : kMaxWidenings;
  for (int round = 0; round <= most; ++round) {
    auto simulator = std::make_unique<FleetSimulator>(spec, service, load, candidates, options);
    Result<FoundFleets> found = find_fleets(*simulator, budget);
    // If larger fleets are impossible, the result of the earlier search stays valid.
    if (!found && finished.simulator && found.error().kind == ErrorKind::infeasible) break;
    if (!found) return std::unexpected(found.error());
    const std::vector<std::size_t> narrow = too_small_candidates(*simulator, *found);
    const bool is_taken = !finished.simulator ||
                          is_better(simulator->result(found->best), finished.simulator->result(finished.found.best));
    if (is_taken) {
      std::swap(finished.simulator, simulator);
      finished.found = *found;
    }
    if (simulator) finished.dropped_simulations += simulator->simulations();
    if (narrow.empty()) break;
    for (const std::size_t i : narrow) widen(candidates[i]);
  }
  return finished;
}

}  // namespace capstan::plan
