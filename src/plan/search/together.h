#pragma once

#include <span>
#include <vector>

#include "plan/search/fleet_simulator.h"

// The last step of a search: all services on one cluster, with the pools and the limits of the plan.
namespace capstan::plan {

/// The fleet that the search chose for a service.
struct ChosenFleet {
  const FleetSimulator* simulator = nullptr;
  FleetKey key{};
};

struct TogetherResult {
  TogetherProof proof{};
  std::vector<experiment::RunResult> results{};  ///< results of the plan's own fleets
  std::int64_t simulations = 0;
};

/// Simulates the chosen fleets of all services on one cluster, under as many seeds as `together_seeds` allows. If a
/// service then misses its SLO, tries higher minima of such services.
/// @param plans   plans by service of the spec, with the names of their pools
/// @param chosen  fleets by service of the spec
Result<TogetherResult> prove_together(const PlanSpec& spec, const std::vector<ServicePlan>& plans,
                                      std::span<const ChosenFleet> chosen, const SearchOptions& options);

/// Returns what the simulations of all services showed, in the order of the services of the spec.
TogetherTrials together_trials(const PlanSpec& spec, std::span<const experiment::RunResult> results);

}  // namespace capstan::plan
