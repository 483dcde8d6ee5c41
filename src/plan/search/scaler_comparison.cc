#include "plan/search/scaler_comparison.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "model/role_names.h"
#include "plan/objects/names.h"
#include "plan/scalers/engine_metrics.h"

namespace capstan::plan {

namespace {

Yaml manifest_of(const PlanSpec& spec, const ServiceSpec& service, ScalerKind kind, model::Role role) {
  Yaml out;
  const bool is_capstan = kind == ScalerKind::capstan;  // one InferenceScaler has all roles of a service, and no query
  out.set("manifest", fmt::format("../replicas/{}/{}.yaml", scaler_folder(kind),
                                  is_capstan ? service.name : workload_name(service, role)));
  if (is_capstan) return out;
  Yaml labels;
  for (const auto& [name, value] : series_labels(spec, service, role)) labels.set(name, value);
  return out.set("labels", std::move(labels));
}

Yaml policy_of(const PlanSpec& spec, const ServiceSpec& service, const FleetOption& fleet) {
  Yaml out = scenario_policy(spec, fleet);
  const std::vector<RoleNeed>& needs = fleet.candidate->needs;
  if (fleet.scaler == ScalerKind::capstan || needs.size() == 1) {
    return out.set("scale", manifest_of(spec, service, fleet.scaler, needs.front().role));
  }
  Yaml by_role;
  for (const RoleNeed& need : needs) {
    by_role.set(model::name(need.role), manifest_of(spec, service, fleet.scaler, need.role));
  }
  return out.set("scale", std::move(by_role));
}

/// Returns a fleet that starts with as many replicas of each role as the largest of the fleets.
FleetOption largest_of(const std::vector<FleetOption>& fleets) {
  FleetOption out = fleets.front();
  for (const FleetOption& fleet : fleets) {
    for (std::size_t i = 0; i < out.minimum.size(); ++i) {
      out.minimum[i] = std::max(out.minimum[i], fleet.minimum[i]);
      out.maximum[i] = std::max(out.maximum[i], fleet.maximum[i]);
    }
  }
  return out;
}

}  // namespace

std::string_view scaler_folder(ScalerKind kind) {
  switch (kind) {
    case ScalerKind::capstan:
      return "capstan";
    case ScalerKind::scaled_object:
      return "keda";
    case ScalerKind::hpa:
      return "hpa";
    case ScalerKind::constant:
      return "";
  }
  return "";
}

std::string comparison_text(const PlanSpec& spec, const ServiceSpec& service, const LoadFacts& load,
                            const std::vector<FleetOption>& fleets) {
  CAPSTAN_ASSERT(!fleets.empty());
  const FleetOption fleet = largest_of(fleets);
  Yaml out = scenario_yaml(spec, service, fleet, load);
  out.set("title", fmt::format("{} of the plan {}: its autoscaler files as policies", service.name, spec.name));
  Yaml& body = out["service"];
  for (std::size_t i = 0; i < fleet.minimum.size(); ++i) {
    const std::string role(model::name(fleet.candidate->needs[i].role));
    Yaml& replicas = fleet.minimum.size() > 1 ? body["roles"][role]["replicas"] : body["replicas"];
    replicas.set("min", 1, "each policy has the minimum of its file");
    replicas.set("initial", fleet.first_replicas(i), "the load does not begin in an idle fleet");
  }
  Yaml policies = Yaml::list();
  for (const FleetOption& option : fleets) policies.add(policy_of(spec, service, option));
  out.set("policies", std::move(policies));
  return out.document();
}

}  // namespace capstan::plan
