#include "plan/against/existing_scaler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plan/names.h"
#include "plan/scaler_trial.h"

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

/// The autoscalers of one service: one for all replicas, or one for prefill and one for decode.
using ScalersOfService = std::vector<const ExistingObject*>;

/// Returns the autoscaler of a workload: the one that targets it or has its name.
const ExistingObject* scaler_of_workload(const std::string& name, const std::vector<ExistingObject>& existing) {
  const ExistingObject* found = nullptr;
  for (const ExistingObject& object : existing) {
    if (is_autoscaler(object) && (target_of(object) == name || object.name() == name)) found = &object;
  }
  return found;
}

ScalersOfService scalers_of(const ServiceSpec& spec, const ServicePlan& service, bool is_only,
                            const std::vector<ExistingObject>& existing) {
  if (const ExistingObject* named = scaler_of_workload(service.service, existing)) return {named};
  ScalersOfService by_role;
  for (const RoleFleet& role : service.roles) {
    const ExistingObject* found = scaler_of_workload(workload_name(spec, role.role), existing);
    if (found != nullptr) by_role.push_back(found);
  }
  if (!by_role.empty()) return by_role.size() == service.roles.size() ? by_role : ScalersOfService{};
  const auto count = std::ranges::count_if(existing, is_autoscaler);
  if (!is_only || count != 1 || service.roles.size() != 1) return {};
  return {&*std::ranges::find_if(existing, is_autoscaler)};
}

/// Returns `scale` of a policy with these autoscalers.
std::string scale_text(const PlanSpec& spec, const ScalersOfService& scalers) {
  const auto manifest = [&](const ExistingObject& object) {
    return fmt::format("{{manifest: '{}', labels: {{namespace: '{}'}}}}", object.file, spec.namespace_);
  };
  if (scalers.size() == 1) return manifest(*scalers.front());
  return fmt::format("{{prefill: {}, decode: {}}}", manifest(*scalers[0]), manifest(*scalers[1]));
}

Result<ExistingScaler> simulate(const Plan& plan, const ServicePlan& service, const ScalersOfService& scalers,
                                const SearchOptions& options) {
  ExistingScaler out{service.service, scalers.front()->kind() + " " + scalers.front()->name(), scalers.front()->file};
  if (scalers.size() > 1) out.object += " and " + scalers.back()->name();
  const Result<ScalerTrial> trial = try_scaler(service, scale_text(plan.spec, scalers), options);
  if (!trial) return std::unexpected(trial.error());
  out.attainment_ppm = trial->attainment_ppm;
  out.micro_usd_per_hour = trial->micro_usd_per_hour;
  out.refused = trial->refused;
  return out;
}

}  // namespace

Result<std::vector<ExistingScaler>> simulate_existing(const Plan& plan, const std::vector<ExistingObject>& existing,
                                                      const SearchOptions& options) {
  std::vector<ExistingScaler> out;
  for (std::size_t i = 0; i < plan.services.size(); ++i) {
    const ScalersOfService scalers =
        scalers_of(plan.spec.services[i], plan.services[i], plan.services.size() == 1, existing);
    if (scalers.empty()) continue;
    Result<ExistingScaler> simulated = simulate(plan, plan.services[i], scalers, options);
    if (!simulated) return std::unexpected(simulated.error());
    out.push_back(std::move(*simulated));
  }
  return out;
}

}  // namespace capstan::plan
