#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "experiment/clairvoyant.h"
#include "experiment/result.h"
#include "experiment/scenario.h"
#include "experiment/simulation.h"

namespace capstan::experiment {

/// Policies of one scenario, best first. Also what `sim` gives: then there is one.
struct Comparison {
  std::string scenario;
  std::string title;
  std::uint64_t seed = 0;
  std::string load;     ///< where the requests come from, "trace conv.csv", "profile azure-hour"
  std::string service;  ///< "Llama-3.3-70B TP 4 on A100, 4 pods that share one node"
  model::Slo slo;
  std::vector<RunResult> results;            ///< by score, then by name
  std::optional<Clairvoyant> clairvoyant{};  ///< where the scenario asks for it
};

/// Runs every policy of the scenario, `jobs` at a time; 0 = one a core. The outcome does not depend on `jobs`. Then,
/// where the scenario asks for its bound, what somebody could reach who knows the load, on the nodes of the best
/// policy.
/// @param progress  called from the threads that run, one call at a time
Result<Comparison> compare(const Scenario& scenario, unsigned jobs, const ProgressCallback& progress = {});

/// Orders by score, the higher first, then by name.
void rank(std::vector<RunResult>& results);

/// What the results are of, without results.
Comparison describe(const Scenario& scenario);

}  // namespace capstan::experiment
