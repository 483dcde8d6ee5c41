#include "experiment/foresight/steady_fleet.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "experiment/run/ranking.h"

namespace capstan::experiment {
namespace {

/// A constant fleet as the simulation runs it.
struct FleetRun {
  scenario::Scenario scenario;
  scenario::PolicySpec policy;
};

/// Returns nothing if the fleet exceeds a limit.
std::optional<FleetRun> run_of(const scenario::Scenario& scenario, const ReplicaCounts& replicas) {
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    if (replicas[i] > scenario.catalog->services[i].max_replicas) return std::nullopt;
  }
  const std::optional<StandingNodes> nodes = nodes_for(scenario, replicas);
  if (!nodes) return std::nullopt;
  return FleetRun{with_standing_fleet(scenario, replicas, *nodes), constant_policy(scenario, replicas)};
}

ReplicaCounts larger_than(ReplicaCounts replicas) {
  for (ReplicaCount& count : replicas) count += count == 0 ? 0 : std::max<ReplicaCount>(1, count / 8);
  return replicas;
}

Result<RunResult> run_with_seed(FleetRun run, std::uint64_t seed, ExtraRuns& extra) {
  run.scenario.seed = seed;
  const PlannedRun planned{.scenario = &run.scenario, .policy = &run.policy};
  Result<std::vector<RunResult>> results = extra.run(std::span(&planned, 1), "constant fleet");
  if (!results) return std::unexpected(std::move(results.error()));
  return std::move(results->front());
}

/// Tries larger fleets until one holds the SLO with every seed.
/// @param check  outcomes of the fleet, which misses the SLO with a seed
Result<std::optional<SteadyFleet>> find_larger(const scenario::Scenario& scenario, ReplicaCounts replicas,
                                               SeedCheck check, ExtraRuns& extra) {
  for (int i = 0; i < kMaxLargerFleets && extra.has_budget(); ++i) {
    replicas = larger_than(std::move(replicas));
    const std::optional<FleetRun> run = run_of(scenario, replicas);
    if (!run) return std::nullopt;
    // A fleet that is too small usually misses the SLO with the worst seed of the previous fleet, so this seed is tried
    // alone first.
    const Result<RunResult> worst = run_with_seed(*run, check.worst().seed, extra);
    if (!worst) return std::unexpected(worst.error());
    if (!holds_slo(*worst, scenario.service().slo)) continue;
    Result<RunResult> first = run_with_seed(*run, scenario.seed, extra);
    if (!first) return std::unexpected(std::move(first.error()));
    Result<SeedCheck> checked = check_policy(run->scenario, run->policy, *first, extra);
    if (!checked) return std::unexpected(std::move(checked.error()));
    if (checked->holds_with_all()) {
      return SteadyFleet{replicas, fleet_words(scenario, replicas), std::move(*first), std::move(*checked)};
    }
    check = std::move(*checked);
  }
  return std::nullopt;
}

}  // namespace

Result<void> check_constant_fleet(const scenario::Scenario& scenario, ConstantFleet& fleet, ExtraRuns& extra) {
  const std::optional<FleetRun> run = run_of(scenario, fleet.replicas);
  if (!fleet.holds_slo || !run || !extra.has_budget()) return {};
  const int runs_before = extra.runs();
  Result<SeedCheck> check = check_policy(run->scenario, run->policy, fleet.result, extra);
  if (!check) return std::unexpected(std::move(check.error()));
  if (!check->holds_with_all()) {
    Result<std::optional<SteadyFleet>> steady = find_larger(scenario, fleet.replicas, *check, extra);
    if (!steady) return std::unexpected(std::move(steady.error()));
    fleet.steady = std::move(*steady);
  }
  fleet.seeds = std::move(*check);
  fleet.seed_runs = extra.runs() - runs_before;
  return {};
}

}  // namespace capstan::experiment
