#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "experiment/foresight/standing_fleet.h"
#include "experiment/run/batch.h"
#include "experiment/run/seed_check.h"

// The smallest fleet of constant size that holds the SLO of a scenario, with which every autoscaler is compared. It is
// chosen with hindsight: its size is found by running the load that it then serves.
namespace capstan::experiment {

/// A fleet that holds the SLO with every seed that was tried.
struct SteadyFleet {
  ReplicaCounts replicas;
  std::string words;
  RunResult result;  ///< with the seed of the scenario
  SeedCheck seeds;
};

struct ConstantFleet {
  ReplicaCounts replicas;  ///< replicas by service of the catalog
  std::string words;       ///< "9 replicas", "5 prefill and 4 decode replicas"
  bool holds_slo = false;  ///< false: no fleet within the limits holds it, and this one meets the most requests
  /// False if the search ended early at one of its limits, so that a smaller fleet may hold the SLO, too.
  bool is_smallest = true;
  std::vector<std::string> limits{};  ///< if no fleet holds the SLO: the limits that allow no larger one
  int runs = 0;                       ///< runs of the search for the smallest fleet
  int seed_runs = 0;                  ///< runs with other seeds, and of larger fleets
  RunResult result;
  std::optional<SeedCheck> seeds{};     ///< the same fleet with other seeds; none: not tried
  std::optional<SteadyFleet> steady{};  ///< the larger fleet that takes its place if it misses the SLO with a seed
};

/// Largest number of runs of one search for a number of replicas. Each pair of runs divides the range by about three,
/// so a range of 64 numbers needs about 8 runs.
inline constexpr int kMaxFleetSearchRuns = 16;

/// Finds the cheapest constant fleet. The search narrows the range of possible sizes step by step, which assumes that
/// attainment grows with the number of replicas. The nodes and replicas of a fleet exist from the start. A fleet has at
/// least the service's `min` and at most its `max` replicas, on nodes within the pools' limits.
///
/// Prefill and decode: finds the fewest replicas of each role that hold the SLO while the other role has more than it
/// needs. Then tries pairs from these two numbers upward, the cheapest first. Variants: finds a fleet for each variant
/// while the others stay at their `min`, and returns the cheapest.
/// @param results  results of the policies, ranked; the search begins near the replica counts of the first policy
/// @return nothing if no fleet fits within the limits, or if no request arrived
Result<std::optional<ConstantFleet>> find_constant_fleet(const scenario::Scenario& scenario,
                                                         std::span<const RunResult> results, ExtraRuns& extra);

}  // namespace capstan::experiment
