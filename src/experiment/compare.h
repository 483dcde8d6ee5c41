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

/// The ranked results of a scenario's policies. `sim` makes one, too, with a single policy.
struct Comparison {
  std::string scenario;
  std::string title;
  std::uint64_t seed = 0;
  std::string load;     ///< where the requests come from, "trace conv.csv", "profile azure-hour"
  std::string service;  ///< "Llama-3.3-70B TP 4 on A100, 4 pods that share one node"
  model::Slo slo;
  std::vector<RunResult> results;                 ///< as `rank` orders them
  std::optional<ConstantFleet> constant_fleet{};  ///< none if the scenario asks for no advice
  std::optional<RaisedMinimum> raised_minimum{};  ///< for the first policy; none if none was tried
  int extra_runs = 0;                             ///< runs that looked for this advice
  RequestCount extra_requests = 0;                ///< requests that these runs simulated
  std::optional<Clairvoyant> clairvoyant{};       ///< only if the scenario asks for it
};

/// Runs every policy of the scenario, `jobs` at a time; 0 = one for each core. The outcome does not depend on `jobs`.
/// Then looks for advice and computes what foresight would reach, if the scenario asks for them. Foresight is tried on
/// the nodes of the policy with the highest score.
/// @param progress  is called from the threads that run, one call at a time
Result<Comparison> compare(const scenario::Scenario& scenario, unsigned jobs, const ProgressCallback& progress = {});

/// Adds the best constant fleet, and a higher `min` if one helps the best policy. With several services it adds
/// nothing.
/// @param comparison  with ranked results
Result<void> advise(const scenario::Scenario& scenario, unsigned jobs, const ProgressCallback& progress,
                    Comparison& comparison);

/// Returns a comparison that describes the scenario and has no results.
Comparison describe(const scenario::Scenario& scenario);

}  // namespace capstan::experiment
