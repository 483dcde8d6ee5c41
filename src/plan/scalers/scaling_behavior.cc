#include <fmt/format.h>

#include <algorithm>

#include "explain/words.h"
#include "plan/objects/names.h"
#include "plan/scalers/scalers.h"

namespace capstan::plan {

Yaml scale_target(const ScalerFacts& facts) {
  return Yaml::map({{"apiVersion", workload_api_version(facts.service)},
                    {"kind", workload_kind(facts.service)},
                    {"name", workload_name(facts.service, facts.role.role)}});
}

Yaml scaling_behavior(const ScalerFacts& facts) {
  const ReplicaCount range = std::max<ReplicaCount>(facts.role.maximum - facts.role.minimum, 1);
  const auto policy = [](ReplicaCount pods) {
    Yaml policies = Yaml::list();
    policies.add(Yaml::map({{"type", "Pods"}, {"value", pods}, {"periodSeconds", 60}}));
    return policies;
  };
  Yaml behavior;
  behavior["scaleUp"].set("stabilizationWindowSeconds", 0,
                          "the target is a sum divided by replicas, so a replica that starts changes nothing");
  behavior["scaleUp"].set("policies", policy(range));
  const std::int64_t window_s = scale_down_window_s(facts.start);
  behavior["scaleDown"].set("stabilizationWindowSeconds", window_s,
                            fmt::format("a replica that is removed too early takes up to {} to come back",
                                        explain::time_text(facts.start.longest)));
  behavior["scaleDown"].set("policies", policy(std::max<ReplicaCount>(facts.role.maximum / 10, 1)));
  return behavior;
}

void set_minimum(Yaml& spec, std::string_view key, const ScalerFacts& facts) {
  const RoleFleet& role = facts.role;
  std::string comment;
  if (role.minimum == 1) {
    comment =
        "capstan:ignore single-replica-floor the simulated SLO holds with one replica; its loss is an outage for a "
        "cold start";
  }
  spec.set(key, role.minimum, comment);
}

ScalerFacts scaler_facts(const PlanSpec& spec, const ServiceSpec& service, const ServicePlan& fleet,
                         const RoleFleet& role) {
  return {.spec = spec,
          .service = service,
          .role = role,
          .signal = choose_signal(service, fleet, role, spec.asked.scale_on),
          .start = cold_start_sum(fleet.start)};
}

}  // namespace capstan::plan
