#include "plan/against/existing_scaler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "experiment/batch.h"
#include "plan/figures.h"

namespace capstan::plan {

namespace {

using manifest::Node;

/// Returns the name of the workload that an autoscaler scales, or an empty text.
std::string target_of(const ExistingObject& object) {
  const Node* spec = object.body.find("spec");
  const Node* target = spec == nullptr ? nullptr : spec->find("scaleTargetRef");
  const Node* name = target == nullptr ? nullptr : target->find("name");
  return name == nullptr ? "" : name->text;
}

bool is_autoscaler(const ExistingObject& object) {
  static constexpr std::array<std::string_view, 3> kKinds = {"HorizontalPodAutoscaler", "ScaledObject",
                                                             "InferenceScaler"};
  return std::ranges::find(kKinds, object.kind()) != kKinds.end();
}

const ExistingObject* scaler_of(const ServicePlan& service, bool is_only, const std::vector<ExistingObject>& existing) {
  const ExistingObject* named = nullptr;
  const ExistingObject* any = nullptr;
  std::size_t count = 0;
  for (const ExistingObject& object : existing) {
    if (!is_autoscaler(object)) continue;
    any = &object;
    ++count;
    if (target_of(object) == service.service || object.name() == service.service) named = &object;
  }
  if (named != nullptr) return named;
  return is_only && count == 1 ? any : nullptr;
}

/// Returns the plan's scenario with this autoscaler as its only policy.
experiment::ScenarioResult scenario_with(const ServicePlan& service, const PlanSpec& spec, const ExistingObject& scaler,
                                         std::uint64_t seed) {
  experiment::ScenarioOverrides overrides;
  overrides.seed = seed;
  overrides.sets.push_back(fmt::format(
      "policies=[{{name: existing, scale: {{manifest: '{}', labels: {{namespace: '{}'}}}}, place: gang, provision: "
      "group}}]",
      scaler.file, spec.namespace_));
  return experiment::parse_scenario(service.scenario, "scenario-" + service.service + ".yaml", overrides);
}

Result<ExistingScaler> simulate(const Plan& plan, const ServicePlan& service, const ExistingObject& scaler,
                                const SearchOptions& options) {
  ExistingScaler out{service.service, scaler.kind() + " " + scaler.name(), scaler.file};
  std::vector<experiment::Scenario> scenarios;
  for (const Trial& trial : service.seeds) {
    experiment::ScenarioResult scenario = scenario_with(service, plan.spec, scaler, trial.seed);
    if (!scenario) {
      out.refused = scenario.error().text();
      return out;
    }
    scenarios.push_back(std::move(*scenario));
  }
  std::vector<experiment::PlannedRun> runs;
  for (const experiment::Scenario& scenario : scenarios) runs.push_back({&scenario, &scenario.policies.front()});
  const auto results = experiment::run_batch(runs, options.jobs, "existing autoscaler", {});
  if (!results) return std::unexpected(results.error());
  out.attainment_ppm = 1'000'000;
  for (const experiment::RunResult& result : *results) {
    out.attainment_ppm = std::min(out.attainment_ppm, result.attainment_ppm());
    Trial trial{.micro_usd = result.total_micro_usd(), .simulated = result.simulated};
    out.micro_usd_per_hour += micro_usd_per_hour(trial) / static_cast<std::int64_t>(results->size());
  }
  return out;
}

}  // namespace

Result<std::vector<ExistingScaler>> simulate_existing(const Plan& plan, const std::vector<ExistingObject>& existing,
                                                      const SearchOptions& options) {
  std::vector<ExistingScaler> out;
  for (const ServicePlan& service : plan.services) {
    const ExistingObject* scaler = scaler_of(service, plan.services.size() == 1, existing);
    if (scaler == nullptr || service.roles.size() != 1) continue;
    Result<ExistingScaler> simulated = simulate(plan, service, *scaler, options);
    if (!simulated) return std::unexpected(simulated.error());
    out.push_back(std::move(*simulated));
  }
  return out;
}

}  // namespace capstan::plan
