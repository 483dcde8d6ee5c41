#include "plan/threshold_minimum.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "plan/figures.h"
#include "plan/scaler_trial.h"
#include "plan/sections/scalers.h"

namespace capstan::plan {

namespace {

constexpr ReplicaCount kRaisesMost = 8;  ///< of the minimum, one replica each
/// No further minimum is tried after so many simulated requests, which keeps plans of long loads short.
constexpr RequestCount kThresholdRequestsMost = 10'000'000;

using MakeScaler = Yaml (*)(const ScalerFacts&);

/// Returns `scale` of a policy that consists of these objects, one for each role. YAML reads the JSON as it is.
std::string scale_of(const PlanSpec& spec, const ServiceSpec& service, const ServicePlan& fleet, MakeScaler make) {
  const auto scaler = [&](const RoleFleet& role) {
    return fmt::format("{{manifest: {}, labels: {{namespace: '{}'}}}}",
                       make(scaler_facts(spec, service, fleet, role)).flow(), spec.namespace_);
  };
  if (fleet.roles.size() == 1) return scaler(fleet.roles.front());
  return fmt::format("{{prefill: {}, decode: {}}}", scaler(fleet.roles[0]), scaler(fleet.roles[1]));
}

/// Raises the minimum of every role by one replica, up to its maximum. Returns false if none could be raised.
bool raise_minimum(ServicePlan& fleet) {
  bool is_raised = false;
  for (RoleFleet& role : fleet.roles) {
    if (role.threshold_minimum >= role.maximum) continue;
    ++role.threshold_minimum;
    is_raised = true;
  }
  return is_raised;
}

}  // namespace

Result<std::int64_t> fit_threshold_minimum(const PlanSpec& spec, const ServiceSpec& service, ServicePlan& fleet,
                                           const SearchOptions& options) {
  std::int64_t simulations = 0;
  for (RoleFleet& role : fleet.roles) role.threshold_minimum = role.minimum;
  if (service.engine != Engine::vllm || !fleet.holds_slo) return simulations;
  RequestCount requests_per_try = 0;
  for (const Trial& seed : fleet.seeds) requests_per_try += 2 * seed.requests;
  const std::int64_t wanted = lowest_attainment_ppm(fleet) - kThresholdShortfallPpm;
  for (ReplicaCount raises = 0; raises <= kRaisesMost; ++raises) {
    if (options.progress) options.progress(fmt::format("{}: ScaledObject and HPA, try {}", service.name, raises + 1));
    fleet.threshold_trials.clear();
    for (const auto& [name, make] : {std::pair("ScaledObject", &keda_scaled_object),
                                     std::pair("HorizontalPodAutoscaler", &external_metrics_hpa)}) {
      const Result<ScalerTrial> trial = try_scaler(fleet, scale_of(spec, service, fleet, make), options);
      if (!trial) return std::unexpected(trial.error());
      simulations += trial->simulations;
      fleet.threshold_trials.push_back(
          {name, trial->attainment_ppm, trial->micro_usd_per_hour, trial->refused, trial->simulations});
    }
    const auto needs_no_more = [&](const ThresholdTrial& trial) {
      return trial.attainment_ppm >= wanted || !trial.refused.empty();
    };
    const bool is_done = std::ranges::all_of(fleet.threshold_trials, needs_no_more) || raises == kRaisesMost ||
                         (raises + 2) * requests_per_try > kThresholdRequestsMost;
    if (is_done || !raise_minimum(fleet)) break;
  }
  return simulations;
}

}  // namespace capstan::plan
