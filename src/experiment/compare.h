#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/error.h"
#include "experiment/foresight/clairvoyant.h"
#include "experiment/foresight/constant_fleet.h"
#include "experiment/foresight/raised_minimum.h"
#include "experiment/run/result.h"
#include "experiment/run/seed_check.h"
#include "experiment/run/simulation.h"
#include "scenario/scenario.h"

namespace capstan::experiment {

/// The ranked results of a scenario's policies. The command `sim` also makes a comparison, with a single policy.
struct Comparison {
  std::string scenario;
  std::string title;
  std::uint64_t seed = 0;
  std::string load;     ///< source of the requests: "trace conv.csv", "profile azure-hour"
  std::string service;  ///< "Llama-3.3-70B TP4 on A100, gangs of 4 pods in one node"
  std::optional<sim::Latency> assumed_engine_init{};  ///< start time that the simulator assumes; may be none
  model::Slo slo;
  /// Results in the order of `rank`, but a policy that holds the SLO with every checked seed comes first.
  std::vector<RunResult> results;
  /// The time after which each policy gives back a node without pods, by policy; none: it gives no node back.
  std::map<std::string, std::optional<Duration>> empty_node_delays{};
  std::vector<scenario::JobSpec> jobs{};            ///< the classes of jobs of the scenario
  std::shared_ptr<const model::Catalog> catalog{};  ///< catalog of the scenario; null: no services and queues are shown
  std::optional<ConstantFleet> constant_fleet{};    ///< none: not searched for, or none fits within the limits
  std::vector<SeedCheck> seed_checks{};             ///< policies that hold the SLO, with other seeds; empty: no check
  std::optional<RaisedMinimum> raised_minimum{};    ///< outcome of a higher `min` for one policy; none: not tried
  std::string advice_left_out{};                    ///< reason why requested advice is missing; otherwise empty
  int extra_runs = 0;                               ///< runs of the search for advice
  RequestCount extra_requests = 0;                  ///< requests that these runs simulated
  std::optional<Clairvoyant> clairvoyant{};         ///< none if the scenario does not ask for it
};

/// Runs every policy of the scenario, `jobs` at a time; 0 = one for each core. The outcome does not depend on `jobs`.
/// Then searches for advice and computes the result that foresight would reach, if the scenario asks for them. The plan
/// with foresight runs on nodes that are bought by the policy with the highest score.
/// @param progress  is called from the threads that run, one call at a time
/// @param stop  a requested stop ends the comparison within a second, with an error; the computation of the lower bound
///              is not interrupted
Result<Comparison> compare(const scenario::Scenario& scenario, unsigned jobs, const ProgressCallback& progress = {},
                           const std::stop_token& stop = {});

/// Adds three kinds of advice: how the cheapest policies that hold the SLO perform with other seeds, the best
/// constant fleet, and the outcome of a higher `min`. If several services or jobs share the cluster, or pods ask for
/// more than GPUs, it sets `advice_left_out` in place of the last two. A scenario with only jobs gets no advice.
/// @param comparison  with ranked results
Result<void> advise(const scenario::Scenario& scenario, unsigned jobs, const ProgressCallback& progress,
                    Comparison& comparison, const std::stop_token& stop = {});

/// Returns a comparison that describes the scenario and has no results.
Comparison describe(const scenario::Scenario& scenario);

}  // namespace capstan::experiment
