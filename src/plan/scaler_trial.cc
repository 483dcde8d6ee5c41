#include "plan/scaler_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "experiment/batch.h"
#include "plan/figures.h"

namespace capstan::plan {

Result<ScalerTrial> try_scaler(const ServicePlan& service, const std::string& scale, const SearchOptions& options) {
  ScalerTrial out;
  std::vector<experiment::Scenario> scenarios;
  for (const Trial& trial : service.seeds) {
    experiment::ScenarioOverrides overrides;
    overrides.seed = trial.seed;
    overrides.sets.push_back(
        fmt::format("policies=[{{name: other, scale: {}, place: gang, provision: group}}]", scale));
    auto scenario = experiment::parse_scenario(service.scenario, "scenario-" + service.service + ".yaml", overrides);
    if (!scenario) {
      out.refused = scenario.error().text();
      return out;
    }
    scenarios.push_back(std::move(*scenario));
  }
  std::vector<experiment::PlannedRun> runs;
  for (const experiment::Scenario& scenario : scenarios) runs.push_back({&scenario, &scenario.policies.front()});
  const auto results = experiment::run_batch(runs, options.jobs, "other autoscalers", {});
  if (!results) return std::unexpected(results.error());
  out.simulations = static_cast<std::int64_t>(results->size());
  out.attainment_ppm = 1'000'000;
  for (const experiment::RunResult& result : *results) {
    const Trial trial{.micro_usd = result.total_micro_usd(), .simulated = result.simulated};
    out.attainment_ppm = std::min(out.attainment_ppm, result.attainment_ppm());
    out.micro_usd_per_hour += micro_usd_per_hour(trial) / out.simulations;
  }
  return out;
}

}  // namespace capstan::plan
