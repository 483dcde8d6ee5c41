#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "experiment/foresight/standing_fleet.h"
#include "experiment/run/batch.h"

// The smallest fleet of constant size that holds the SLO of a scenario: the yardstick of every autoscaler. It is chosen
// with hindsight, since its size is found by running the load that it then serves.
namespace capstan::experiment {

struct ConstantFleet {
  ReplicaCounts replicas;  ///< by service of the catalog
  std::string words;       ///< "9 replicas", "5 prefill and 4 decode replicas"
  bool holds_slo = false;  ///< false: no fleet within the limits does, and this is the one that meets most
  /// False where the limits of the search ended it early: a smaller fleet may hold the SLO, too.
  bool is_smallest = true;
  int runs = 0;  ///< simulated to find it
  RunResult result;
};

/// Most runs of one search for a number of replicas; a bisection between 1 and 64 replicas needs at most 8.
inline constexpr int kFleetSearchRunsMost = 16;

/// Finds the cheapest constant fleet by bisection, taking attainment to grow with the number of replicas. Its nodes and
/// replicas stand from the start. A fleet has at least the service's `min` and at most its `max` replicas, on nodes
/// within the pools' limits.
///
/// Prefill and decode: finds how few of each hold the SLO where there is plenty of the other, then tries pairs above
/// these two numbers, the cheapest first. Variants: finds a fleet of each variant alone, the others at their `min`, and
/// returns the cheapest.
/// @param results  those of the policies, ranked; the first tells between which sizes to begin
/// @return nothing where no fleet was run, because none fits within the limits
Result<std::optional<ConstantFleet>> find_constant_fleet(const scenario::Scenario& scenario,
                                                         std::span<const RunResult> results, ExtraRuns& extra);

}  // namespace capstan::experiment
