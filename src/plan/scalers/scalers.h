#pragma once

#include "plan/pods/cold_start.h"
#include "plan/result/plan.h"
#include "plan/scalers/signal_choice.h"

// The objects that scale one role: a ScaledObject, an HPA with rules of prometheus-adapter, or an InferenceScaler. One
// of the three is applied: two scalers of one target undo each other's changes.
namespace capstan::plan {

/// Everything that the scalers of one role need.
struct ScalerFacts {
  const PlanSpec& spec;
  const ServiceSpec& service;
  const RoleFleet& role;
  SignalChoice signal{};
  ColdStart start{};
};

/// Returns what the scalers of a role need. The arguments must outlive the result.
ScalerFacts scaler_facts(const PlanSpec& spec, const ServiceSpec& service, const ServicePlan& fleet,
                         const RoleFleet& role);

/// Returns `{apiVersion, kind, name}` of the workload.
Yaml scale_target(const ScalerFacts& facts);

/// Returns the `behavior` of an HPA, which a ScaledObject has too: it scales up at once and down slowly.
Yaml scaling_behavior(const ScalerFacts& facts);

/// Sets the minimum. A minimum of one replica is stated with the reason why the plan accepts it.
void set_minimum(Yaml& spec, std::string_view key, const ScalerFacts& facts);

/// Returns a ScaledObject of KEDA with queries to Prometheus. Its triggers are the signals of the role, and KEDA's HPA
/// follows the one that asks for the most replicas.
Yaml keda_scaled_object(const ScalerFacts& facts);

/// Returns an HPA (autoscaling/v2) with External metrics.
Yaml external_metrics_hpa(const ScalerFacts& facts);

/// Returns Capstan's InferenceScaler of a service with all its roles.
Yaml inference_scaler(const PlanSpec& spec, const ServiceSpec& service, const ServicePlan& fleet);

}  // namespace capstan::plan
