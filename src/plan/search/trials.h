#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiment/run/batch.h"
#include "plan/fleet/fleet.h"
#include "plan/search/scenario_text.h"
#include "plan/search/search.h"

namespace capstan::plan {

/// One simulation to run: a fleet under conditions and a seed.
struct TrialOrder {
  FleetOption fleet{};
  Conditions conditions{};
  std::uint64_t seed = 1;
};

/// Simulates fleets of one service. Counts the simulations and their requests.
class FleetTrials {
 public:
  /// @param options  outlives this object
  FleetTrials(const PlanSpec& spec, const ServiceSpec& service, const LoadFacts& load, const SearchOptions& options)
      : spec_(spec), service_(service), load_(load), options_(options) {}

  /// Simulates all orders, and returns the results in their order, independently of the number of cores.
  /// @return the first error of a scenario or of its trace
  Result<std::vector<experiment::RunResult>> run(std::span<const TrialOrder> orders, const std::string& stage);

  std::int64_t simulations() const { return simulations_; }
  /// Returns the simulated requests, as the budget of the search counts them: see `counted_requests`.
  RequestCount requests() const { return requests_; }

 private:
  const PlanSpec& spec_;
  const ServiceSpec& service_;
  const LoadFacts& load_;
  const SearchOptions& options_;
  std::int64_t simulations_ = 0;
  RequestCount requests_ = 0;
};

/// Returns the requests of a simulation as the budget of a search counts them. Long prompts take longer to simulate, so
/// at least one request is counted for every `kPromptTokensOfRequest` tokens of prompts.
RequestCount counted_requests(const experiment::RunResult& result);

/// Returns the met requests per second of the busiest window of a simulation, thousandths. The busiest window is the
/// `kPeakWindow` of whole minutes in which the most requests arrive. A shorter simulation is one window.
/// @param simulated  length of the simulation
std::int64_t goodput_milli(std::span<const experiment::Minute> by_minute, Duration simulated);

/// Returns the figures of a simulation that a plan states.
Trial trial_of(std::string name, const experiment::RunResult& result);

/// Returns the phases of a replica's start in a scenario, in the order in which they happen: the node if nodes can be
/// bought, image pull, weights, engine start, warm-up. A typical phase takes the middle of its range.
/// @param machines_per_replica  machines that share the weights of a replica
std::vector<StartPhase> start_phases(const scenario::Scenario& scenario, std::int64_t machines_per_replica = 1);

}  // namespace capstan::plan
