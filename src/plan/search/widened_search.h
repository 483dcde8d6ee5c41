#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plan/search/service_search.h"

namespace capstan::plan {

/// A search of one service, and its result.
struct FinishedSearch {
  std::unique_ptr<FleetSimulator> simulator{};
  FoundFleets found{};
  std::int64_t dropped_simulations = 0;  ///< simulations of searches whose result was worse
};

/// Doubles the replicas that the peak needs, and so the largest fleet of the candidate.
void widen(FleetCandidate& candidate);

/// Returns the candidates for which larger fleets should be searched. A simulation showed that the largest fleet of
/// such a candidate misses the SLO, although it is large enough by the engine table, and it costs less than the best
/// fleet. If no fleet holds the SLO, returns all candidates. Candidates that the limits already bound are left out.
std::vector<std::size_t> too_small_candidates(const FleetSimulator& simulator, const FoundFleets& found);

/// Finds the cheapest fleet that holds the SLO as `find_fleets` does, and searches again among larger fleets where
/// those of the first search were too small.
Result<FinishedSearch> find_fleets_widened(const PlanSpec& spec, const ServiceSpec& service, const LoadFacts& load,
                                           std::vector<FleetCandidate> candidates, const SearchBudget& budget,
                                           const SearchOptions& options);

}  // namespace capstan::plan
