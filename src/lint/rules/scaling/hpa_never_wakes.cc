#include <fmt/format.h>

#include "lint/facts.h"
#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace hpa_never_wakes {
namespace {

void check(const Subject& s) {
  const std::optional<Scaler> scaler = scaler_of(s.object);
  if (!scaler->min->is("0")) return;
  if (s.settings.kube.minor < minor_of(since_version("hpa-scale-to-zero"))) return;
  const Object* target = target_of(*scaler, s.set);
  const Value& replicas = target == nullptr ? Value::missing() : at(*target, "spec.replicas");
  if (!replicas.is("0")) return;
  s.require_object(
      s.report(*scaler->min,
               fmt::format("{} is deployed with replicas: 0, but an HPA scales up from zero only if it scaled to "
                           "zero itself",
                           target->title())),
      *target, target->name);
}

}  // namespace
}  // namespace hpa_never_wakes

extern const Rule rule_hpa_never_wakes;
const Rule rule_hpa_never_wakes = {
    .id = "hpa-never-wakes",
    .severity = Severity::error,
    .kinds = "HorizontalPodAutoscaler",
    .title = "an HPA with minReplicas 0 scales a workload that is deployed with 0 replicas",
    .why =
        "From Kubernetes 1.37 on, an HPA scales a target up from 0 only if the HPA itself had scaled the target to 0 "
        "(condition ScaledToZero). A workload that is deployed with 0 counts as switched off, and no load scales it "
        "up.",
    .fix = "deploy the workload with one replica, or without the field replicas; the HPA then scales it down",
    .source = "kubernetes v1.37 pkg/controller/podautoscaler/horizontal.go; KEP-2021",
    .bad = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: llama-70b}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: llama-70b}
  minReplicas: 0
  maxReplicas: 4
  metrics: [{type: External, external: {metric: {name: queued}, target: {type: AverageValue, averageValue: "5"}}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: llama-70b}
spec:
  replicas: 0
  selector: {matchLabels: {a: b}}
  template: {spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]}}
)",
    .good = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: llama-70b}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: llama-70b}
  minReplicas: 0
  maxReplicas: 4
  metrics: [{type: External, external: {metric: {name: queued}, target: {type: AverageValue, averageValue: "5"}}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: llama-70b}
spec:
  selector: {matchLabels: {a: b}}
  template: {spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]}}
)",
    .check = hpa_never_wakes::check,
};

}  // namespace capstan::lint
