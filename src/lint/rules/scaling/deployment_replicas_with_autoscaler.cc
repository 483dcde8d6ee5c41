#include <fmt/format.h>

#include <algorithm>

#include "lint/pods.h"
#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace deployment_replicas_with_autoscaler {
namespace {

/// Returns true if an annotation stops KEDA from scaling the target.
bool is_paused(const Object& scaler) {
  const Value& paused = annotation(scaler, "autoscaling.keda.sh/paused");
  return paused.is("true") || annotation(scaler, "autoscaling.keda.sh/paused-replicas");
}

/// Returns true if another file of the folder has a workload of the same name. The files are then alternatives, and the
/// scaler may belong to the workload in the other file.
bool has_workload_of_same_name(const Subject& s) {
  return std::ranges::any_of(s.set.in_folder(s.object.kind, s.object), [&](const Object* other) {
    return other->file != s.object.file && other->name == s.object.name && may_share_namespace(*other, s.object);
  });
}

/// Returns true if the scaler keeps the number of replicas that the workload states.
bool is_fixed_at(const Object& scaler, const Value& replicas) {
  const std::optional<Scaler> read = scaler_of(scaler);
  return read->max->integer() && read->max->integer() == read->min->integer() && replicas.is(read->max->text);
}

void check(const Subject& s) {
  const Value& replicas = s.object["spec"]["replicas"];
  if (!replicas) return;
  std::vector<const Object*> scalers = scalers_of(s.object, s.set);
  std::erase_if(scalers, [&](const Object* scaler) { return is_paused(*scaler) || is_fixed_at(*scaler, replicas); });
  if (scalers.empty()) return;
  // If only the target states a namespace, the scaler may be in another namespace.
  const auto is_certain = [&](const Object* scaler) {
    return scaler->name_space == s.object.name_space && s.set.belong_together(s.object, *scaler, s.object.name);
  };
  const auto certain = std::ranges::find_if(scalers, is_certain);
  const Object& scaler = certain == scalers.end() ? *scalers.front() : **certain;
  s.report(replicas, fmt::format("every apply resets replicas to {}, although {} scales the workload", replicas.text,
                                 scaler.title()))
      .remove_entry(s.object["spec"], replicas)
      .set_caution(fmt::format(
          "the first apply without replicas scales {} to the default of 1 once; to avoid this, first delete "
          "replicas with `kubectl apply edit-last-applied {}/{}{}{}`",
          s.object.title(), s.object.kind, s.object.name, s.object.name_space.empty() ? "" : " -n ",
          s.object.name_space))
      .require_object(scaler,
                      certain != scalers.end() && !has_workload_of_same_name(s) && replicas.integer().has_value());
}

}  // namespace
}  // namespace deployment_replicas_with_autoscaler

extern const Rule rule_deployment_replicas_with_autoscaler;
const Rule rule_deployment_replicas_with_autoscaler = {
    .id = "deployment-replicas-with-autoscaler",
    .severity = Severity::warning,
    .kinds = "Deployment StatefulSet LeaderWorkerSet",
    .title = "a workload has a fixed number of replicas although an autoscaler scales it",
    .why =
        "Every apply resets the replicas. A rollout at peak load cuts the fleet to this number, and requests wait for "
        "cold starts.",
    .fix =
        "delete spec.replicas, because the autoscaler sets it. The first `kubectl apply` without it scales the "
        "workload to the default of 1 once. To avoid this, first delete it from the last applied configuration: "
        "`kubectl apply edit-last-applied deployment/NAME`",
    .fix_safety = FixSafety::unsafe,
    .source = "Kubernetes documentation: migrating Deployments to horizontal autoscaling",
    .bad = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: vllm}
spec:
  replicas: 2
  selector: {matchLabels: {app: vllm}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: vllm}
spec: {scaleTargetRef: {kind: Deployment, name: vllm}, maxReplicas: 4}
)",
    .good = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: vllm}
spec:
  selector: {matchLabels: {app: vllm}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: vllm}
spec: {scaleTargetRef: {kind: Deployment, name: vllm}, maxReplicas: 4}
)",
    .check = deployment_replicas_with_autoscaler::check,
};

}  // namespace capstan::lint
