#include "plan/scaler_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "experiment/run/batch.h"
#include "plan/figures.h"
#include "plan/measure/use_measured_load.h"
#include "plan/search/trials.h"
#include "plan/sections/engine_metrics.h"

namespace capstan::plan {

namespace {

/// Returns changes to the service's scenario: a minimum of 1, with the same number of replicas at the start.
std::vector<std::string> without_minimum(const ServicePlan& service) {
  std::vector<std::string> sets;
  const auto scenario = scenario::parse_scenario(service.scenario, "scenario-" + service.service + ".yaml");
  if (!scenario) return sets;
  const bool has_roles = scenario->endpoint().roles.size() > 1;
  for (std::size_t i = 0; i < scenario->endpoint().roles.size(); ++i) {
    const std::string path =
        has_roles ? fmt::format("service.roles.{}.replicas", i == 0 ? "prefill" : "decode") : "service.replicas";
    sets.push_back(fmt::format("{}.initial={}", path, scenario->cluster.initial[i].replicas));
    sets.push_back(fmt::format("{}.min=1", path));
  }
  return sets;
}

/// Returns the warning about a query that found no series; empty if there is none. A scaler with such a query does not
/// see the load.
std::string blind_warning(const experiment::RunResult& result) {
  const auto is_blind = [](const std::string& warning) { return warning.find("never found a series") != warning.npos; };
  const auto found = std::ranges::find_if(result.warnings, is_blind);
  return found == result.warnings.end() ? "" : *found;
}

}  // namespace

std::string scale_labels(const PlanSpec& spec, const ServiceSpec& service, model::Role role) {
  Yaml labels;
  for (const auto& [name, value] : series_labels(spec, service, role)) labels.set(name, value);
  return labels.flow();
}

Result<ScalerTrial> try_scaler(const ServicePlan& service, const std::string& scale, const SearchOptions& options) {
  ScalerTrial out;
  std::vector<scenario::Scenario> scenarios;
  const std::vector<std::string> sets = without_minimum(service);
  for (const Trial& trial : service.seeds) {
    scenario::ScenarioOverrides overrides;
    overrides.seed = trial.seed;
    overrides.sets = sets;
    overrides.sets.push_back(
        fmt::format("policies=[{{name: other, scale: {}, place: gang, provision: group}}]", scale));
    auto scenario = scenario::parse_scenario(service.scenario, "scenario-" + service.service + ".yaml", overrides);
    if (!scenario) {
      out.refusal_reason = scenario.error().text();
      return out;
    }
    use_measured_load(service.measured_profile_text, *scenario);
    scenarios.push_back(std::move(*scenario));
  }
  std::vector<experiment::PlannedRun> runs;
  for (const scenario::Scenario& scenario : scenarios) runs.push_back({&scenario, &scenario.policies.front()});
  const auto results = experiment::run_batch(runs, options.jobs, "other autoscalers", {});
  if (!results) return std::unexpected(results.error());
  out.simulations = static_cast<std::int64_t>(results->size());
  out.refusal_reason = blind_warning(results->front());
  if (!out.refusal_reason.empty()) return out;
  std::vector<Trial> trials;
  for (const experiment::RunResult& result : *results) trials.push_back(trial_of("", result));
  out.attainment_ppm = lowest_attainment_ppm(trials);
  out.micro_usd_per_hour = micro_usd_per_hour(trials);
  return out;
}

}  // namespace capstan::plan
