#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "experiment/foresight/clairvoyant.h"
#include "experiment/foresight/constant_fleet.h"
#include "experiment/foresight/raised_minimum.h"
#include "experiment/run/result.h"
#include "experiment/run/simulation.h"
#include "scenario/scenario.h"

namespace capstan::experiment {

/// The policies of one scenario, ranked. `sim` gives one, too, with a single policy.
struct Comparison {
  std::string scenario;
  std::string title;
  std::uint64_t seed = 0;
  std::string load;     ///< where the requests come from, "trace conv.csv", "profile azure-hour"
  std::string service;  ///< "Llama-3.3-70B TP 4 on A100, 4 pods that share one node"
  model::Slo slo;
  std::vector<RunResult> results;                 ///< as `rank` orders them
  std::optional<ConstantFleet> constant_fleet{};  ///< nothing where the scenario asks for no advice
  std::optional<RaisedMinimum> raised_minimum{};  ///< of the first policy; nothing where none was tried
  int extra_runs = 0;                             ///< simulated for this advice
  RequestCount extra_requests = 0;                ///< simulated by these runs
  std::optional<Clairvoyant> clairvoyant{};       ///< where the scenario asks for it
};

/// Runs every policy of the scenario, `jobs` at a time; 0 = one for each core. The outcome does not depend on `jobs`.
/// Then, where the scenario asks for it: the advice, and what foresight reaches, on the nodes of the policy with the
/// highest score.
/// @param progress  is called from the threads that run, one call at a time
Result<Comparison> compare(const scenario::Scenario& scenario, unsigned jobs, const ProgressCallback& progress = {});

/// Finds the best constant fleet, and whether a higher `min` helps the best policy. The results are ranked.
Result<void> advise(const scenario::Scenario& scenario, unsigned jobs, const ProgressCallback& progress,
                    Comparison& comparison);

/// Returns a comparison without results: what was run.
Comparison describe(const scenario::Scenario& scenario);

}  // namespace capstan::experiment
