#include "plan/search/scaler_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "experiment/run/batch.h"
#include "plan/measure/use_measured_load.h"
#include "plan/result/figures.h"
#include "plan/scalers/engine_metrics.h"
#include "plan/search/trials.h"

namespace capstan::plan {

namespace {

/// Returns the scenario in which a scaler may add replicas and nodes. The scenario of a constant fleet has no room for
/// them, so that every scaler would seem to cost the same.
const std::string& scaled_scenario(const ServicePlan& service) {
  if (service.scaler != ScalerKind::constant) return service.scenario;
  for (const ScalerVariant& variant : service.variants) {
    if (variant.kind != ScalerKind::constant && !variant.scenario.empty()) return variant.scenario;
  }
  return service.scenario;
}

/// Returns the GPUs of the nodes that hold the maxima of all roles.
GpuCount gpus_of_maxima(const ServicePlan& service, const std::vector<ReplicaCount>& maxima) {
  GpuCount gpus = 0;
  for (std::size_t i = 0; i < maxima.size() && i < service.roles.size(); ++i) {
    const RoleFleet& role = service.roles[i];
    const GpuCount of_node = std::max<GpuCount>(role.machine.gpus, 1);
    const std::int64_t per_node = of_node / std::max<GpuCount>(role.gpus_per_replica(), 1);
    // A replica that needs several nodes has whole ones.
    gpus += per_node > 0 ? ceil_div(maxima[i], per_node) * of_node
                         : maxima[i] * ceil_div(role.gpus_per_replica(), of_node) * of_node;
  }
  return gpus;
}

/// Returns changes to the scenario of a scaler: the replicas of the plan at the start, a minimum of 1, and room for the
/// maxima of the scaler.
std::vector<std::string> bounds_of(const ServicePlan& service, const std::vector<ReplicaCount>& maxima) {
  std::vector<std::string> sets;
  const std::string file = "scenario-" + service.service + ".yaml";
  const auto planned = scenario::parse_scenario(service.scenario, file);
  const auto scaled = scenario::parse_scenario(scaled_scenario(service), file);
  if (!planned || !scaled) return sets;
  const scenario::EndpointSpec& endpoint = scaled->endpoint();
  for (std::size_t i = 0; i < endpoint.roles.size(); ++i) {
    const std::string path = endpoint.roles.size() > 1
                                 ? fmt::format("service.roles.{}.replicas", i == 0 ? "prefill" : "decode")
                                 : "service.replicas";
    sets.push_back(fmt::format("{}.initial={}", path, planned->cluster.initial[i].replicas));
    sets.push_back(fmt::format("{}.min=1", path));
    const ReplicaCount known = scaled->catalog->service(endpoint.service_of(i)).max_replicas;
    if (i < maxima.size() && maxima[i] > known) sets.push_back(fmt::format("{}.max={}", path, maxima[i]));
  }
  const GpuCount gpus = gpus_of_maxima(service, maxima);
  for (std::size_t pool = 0; pool < scaled->catalog->pools.size(); ++pool) {
    const GpuCount limit = scaled->catalog->pools[pool].limits.gpus;
    if (gpus > limit) sets.push_back(fmt::format("cluster.pools.{}.gpu_limit={}", pool, gpus));
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

Result<ScalerTrial> try_scaler(const ServicePlan& service, const TriedScaler& scaler, const SearchOptions& options) {
  ScalerTrial out;
  std::vector<scenario::Scenario> scenarios;
  const std::vector<std::string> sets = bounds_of(service, scaler.maxima);
  for (const Trial& trial : service.seeds) {
    scenario::ScenarioOverrides overrides;
    overrides.seed = trial.seed;
    overrides.sets = sets;
    overrides.sets.push_back(
        fmt::format("policies=[{{name: other, scale: {}, place: gang, provision: group}}]", scaler.scale));
    auto scenario =
        scenario::parse_scenario(scaled_scenario(service), "scenario-" + service.service + ".yaml", overrides);
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
