#include "plan/against/existing_scaler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "plan/against/scaler_facts.h"
#include "plan/objects/names.h"
#include "plan/scalers/engine_metrics.h"
#include "plan/search/scaler_trial.h"

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

ScalerKind kind_of(const ExistingObject& autoscaler) {
  if (autoscaler.kind() == "ScaledObject") return ScalerKind::scaled_object;
  return autoscaler.kind() == "InferenceScaler" ? ScalerKind::capstan : ScalerKind::hpa;
}

/// Returns the autoscaler that targets a workload or has its name. Of several, returns the first one of the preferred
/// kind, or else the first one.
const ExistingObject* scaler_of_workload(const std::string& name, ScalerKind preferred,
                                         const std::vector<ExistingObject>& existing) {
  const ExistingObject* found = nullptr;
  for (const ExistingObject& object : existing) {
    if (!is_autoscaler(object) || (target_of(object) != name && object.name() != name)) continue;
    if (found == nullptr || (kind_of(object) == preferred && kind_of(*found) != preferred)) found = &object;
  }
  return found;
}

ScalersOfService scalers_of(const ServiceSpec& spec, const ServicePlan& service, bool is_only,
                            const std::vector<ExistingObject>& existing) {
  const ExistingObject* named = scaler_of_workload(service.service, service.scaler, existing);
  if (named != nullptr && kind_of(*named) == service.scaler) return {named};
  ScalersOfService by_role;
  for (const RoleFleet& role : service.roles) {
    const ExistingObject* found = scaler_of_workload(workload_name(spec, role.role), service.scaler, existing);
    if (found != nullptr) by_role.push_back(found);
  }
  const bool has_all_roles = by_role.size() == service.roles.size();
  if (named != nullptr && !(has_all_roles && kind_of(*by_role.front()) == service.scaler)) return {named};
  if (!by_role.empty()) return has_all_roles ? by_role : ScalersOfService{};
  std::set<std::string> targets;
  for (const ExistingObject& object : existing) {
    if (is_autoscaler(object)) targets.insert(target_of(object).empty() ? object.name() : target_of(object));
  }
  if (!is_only || targets.size() != 1 || service.roles.size() != 1) return {};
  return {scaler_of_workload(*targets.begin(), service.scaler, existing)};
}

/// Returns the series labels under which the queries of an autoscaler find its replicas: those of the plan's pods in
/// the namespace of the autoscaler, and each value that a query asks for. A simulated autoscaler sees only the
/// series of the replicas that it scales, so a pod label or a job in one of its queries can only mean these replicas.
std::string series_labels_of(const PlanSpec& spec, const ServiceSpec& service, const ExistingObject& object,
                             model::Role role) {
  Yaml labels;
  for (const auto& [name, value] : series_labels(spec, service, role)) labels.set(name, value);
  if (!object.namespace_name().empty()) labels.set("namespace", object.namespace_name());
  for (const auto& [name, value] : queried_labels(object)) labels.set(name, value);
  return labels.flow();
}

/// Returns the policy of a simulation that runs the manifests of these autoscalers.
TriedScaler tried_scaler(const PlanSpec& spec, const ServiceSpec& service, const ScalersOfService& scalers) {
  const auto manifest = [&](const ExistingObject& object, model::Role role) {
    const Yaml file(object.file);
    return fmt::format("{{manifest: {}, labels: {}}}", file.flow(), series_labels_of(spec, service, object, role));
  };
  if (scalers.size() == 1) {
    return {.scale = manifest(*scalers.front(), model::Role::both), .maxima = stated_maxima(*scalers.front())};
  }
  TriedScaler tried{.scale = fmt::format("{{prefill: {}, decode: {}}}", manifest(*scalers[0], model::Role::prefill),
                                         manifest(*scalers[1], model::Role::decode))};
  for (const ExistingObject* scaler : scalers) {
    for (const ReplicaCount maximum : stated_maxima(*scaler)) tried.maxima.push_back(maximum);
  }
  return tried;
}

Result<ExistingScaler> simulate(const Plan& plan, std::size_t index, const ScalersOfService& scalers,
                                const SearchOptions& options) {
  const ServicePlan& service = plan.services[index];
  ExistingScaler out{.service = service.service,
                     .object = scalers.front()->kind() + " " + scalers.front()->name(),
                     .file = scalers.front()->file,
                     .kind = kind_of(*scalers.front())};
  if (scalers.size() > 1) out.object += " and " + scalers.back()->name();
  const Result<ScalerTrial> trial =
      try_scaler(service, tried_scaler(plan.spec, plan.spec.services[index], scalers), options);
  if (!trial) return std::unexpected(trial.error());
  out.attainment_ppm = trial->attainment_ppm;
  out.micro_usd_per_hour = trial->micro_usd_per_hour;
  // The rest of the warning advises to change a scenario, which the user does not have here.
  out.refusal_reason = trial->refusal_reason.substr(0, trial->refusal_reason.find("; the labels that it selects"));
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
    Result<ExistingScaler> simulated = simulate(plan, i, scalers, options);
    if (!simulated) return std::unexpected(simulated.error());
    out.push_back(std::move(*simulated));
  }
  return out;
}

std::vector<std::string> notes_on_constant_fleets(const Plan& plan, const std::vector<ExistingScaler>& scalers) {
  std::vector<std::string> notes;
  for (const ExistingScaler& scaler : scalers) {
    const auto service = std::ranges::find(plan.services, scaler.service, &ServicePlan::service);
    if (service == plan.services.end() || service->scaler != ScalerKind::constant) continue;
    std::vector<std::string> replicas;
    for (const RoleFleet& role : service->roles) {
      replicas.push_back(fmt::format("{}{}", role.minimum,
                                     role.role == model::Role::prefill  ? " for prefill"
                                     : role.role == model::Role::decode ? " for decode"
                                                                        : ""));
    }
    notes.push_back(fmt::format(
        "the plan needs no autoscaler for {0} up to {1:.2f} requests/s in the busiest 5 minutes; to follow it, delete "
        "{2} and set spec.replicas of its workload to {3}. The changes of {2} below are for a higher load",
        scaler.service, service->mean_load.peak_per_s, scaler.object, fmt::join(replicas, " and ")));
  }
  return notes;
}

}  // namespace capstan::plan
