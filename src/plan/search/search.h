#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "plan/fleet/fleet.h"

namespace capstan::plan {

struct SearchOptions {
  unsigned jobs = 0;  ///< simultaneous simulations; 0: one for each core. The result does not depend on it
  std::function<void(const std::string&)> progress;  ///< receives progress messages; empty: there are none
  bool is_alone = false;                             ///< true: omits the simulation of all services on one cluster
};

struct SearchResult {
  std::vector<ServicePlan> services{};      ///< plans by service of the spec
  std::optional<TogetherProof> together{};  ///< as in `Plan`
  std::int64_t simulations = 0;
};

/// Finds the cheapest fleet of each service that holds its SLO, and simulates it under five seeds and under worse
/// conditions. Services are simulated one at a time, each on nodes of its own, and in the end all on one cluster.
/// @return an infeasible error if no fleet within the limits can serve a model; a fleet that misses its SLO is a result
Result<SearchResult> search_fleets(const PlanSpec& spec, const SearchOptions& options);

}  // namespace capstan::plan
