#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "experiment/run/batch.h"
#include "experiment/run/result.h"
#include "scenario/scenario.h"

// Simulates policies again with other seeds, because a result near the SLO may depend on chance. A seed decides all
// random draws: arrivals within a minute, the speed of the engine within its uncertainty, and the times of starts.
namespace capstan::experiment {

/// The outcome of a policy with one seed.
struct SeedOutcome {
  std::uint64_t seed = 0;
  std::int64_t attainment_ppm = 0;  ///< share of requests met, millionths
  bool holds_slo = false;
  std::int64_t micro_usd = 0;  ///< cost of the run, 1e-6 USD
  Duration simulated{};        ///< length of the run
};

/// The outcomes of one policy.
struct SeedCheck {
  std::string policy;
  std::vector<SeedOutcome> outcomes;  ///< by seed, the seed of the scenario first

  std::int64_t held() const;  ///< number of seeds with which the policy holds the SLO
  bool holds_with_all() const { return held() == std::ssize(outcomes); }
  /// The outcome of the seed with which the policy meets the smallest share of the requests. There is at least one.
  const SeedOutcome& worst() const;
  /// The cost per hour of all runs together; 0: no price is known.
  MicroUsd mean_per_hour() const;
  /// The cost of the most expensive run.
  MicroUsd max_cost() const;
};

/// Number of seeds with which a policy is simulated, that of the scenario included. `capstan plan` uses as many.
inline constexpr std::uint64_t kCheckedSeeds = 5;
/// Largest number of policies that are checked.
inline constexpr std::size_t kMaxCheckedPolicies = 5;

/// Simulates a policy with the seeds after that of the scenario.
/// @param first  result of the policy with the seed of the scenario
Result<SeedCheck> check_policy(const scenario::Scenario& scenario, const scenario::PolicySpec& policy,
                               const RunResult& first, ExtraRuns& extra);

/// Checks policies that hold the SLO, the first of the ranking first. As soon as one holds it with every seed, a policy
/// is left out whose run with the seed of the scenario costs more than each run of that one.
/// @param results  ranked results with the seed of the scenario
Result<std::vector<SeedCheck>> check_seeds(const scenario::Scenario& scenario, std::span<const RunResult> results,
                                           ExtraRuns& extra);

/// Returns the check of the policy that costs least on average among those policies that hold the SLO with every seed;
/// null if there is none. Of equally expensive ones it returns the first.
const SeedCheck* cheapest_steady(std::span<const SeedCheck> checks);

/// Moves the policy of `cheapest_steady` to the front of the results, if there is one.
void put_steady_first(std::span<const SeedCheck> checks, std::vector<RunResult>& results);

}  // namespace capstan::experiment
