#include <fmt/format.h>

#include "lint/pods.h"
#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace hpa_cpu_request_missing {
namespace {

/// Returns true if the signal aims at a share of what the containers request.
bool is_utilization(const ScalingSignal& signal) {
  if (signal.source != SignalSource::resource) return false;
  const Value& target =
      at(*signal.block, signal.type == "ContainerResource" ? "containerResource.target" : "resource.target");
  if (target) return static_cast<bool>(target["averageUtilization"]);
  if (signal.block->key == "targetCPUUtilizationPercentage") return true;
  // KEDA: `metricType`, in older manifests `metadata.type`.
  const Value& metric_type = (*signal.block)["metricType"];
  return metric_type.is("Utilization") || (!metric_type && at(*signal.block, "metadata.type").is("Utilization"));
}

std::string_view resource_of(const ScalingSignal& signal) { return signal.metric->text == "memory" ? "memory" : "cpu"; }

/// Returns the container that a signal of type ContainerResource is about; empty: all of them.
std::string_view container_of(const ScalingSignal& signal) {
  const Value& name = at(*signal.block, "containerResource.container");
  return name ? name.text : at(*signal.block, "metadata.containerName").text;
}

/// Returns true if the container has a request; a limit without a request is the request, too.
bool requests(const Value& container, std::string_view resource) {
  const Value& resources = container["resources"];
  if (resources.is_scalar()) return true;  // filled in later
  return resources["requests"][resource] || resources["limits"][resource];
}

/// Returns the first container that keeps the HPA from computing its share; null where none does.
const Value* without_request(const Object& target, const ScalingSignal& signal) {
  for (const Pod& pod : pods_of(target)) {
    if ((*pod.spec)["resources"]) continue;  // of the whole pod
    for (const Value* container : containers_of(pod)) {
      const std::string_view only = container_of(signal);
      if (!only.empty() && !(*container)["name"].is(only)) continue;
      if ((*container)["name"] && !requests(*container, resource_of(signal))) return container;
    }
  }
  return nullptr;
}

void check(const Subject& s) {
  const std::optional<Scaler> scaler = scaler_of(s.object);
  const Object* target = scaler->scales_itself ? nullptr : target_of(*scaler, s.set);
  if (target == nullptr || is_operated(*target) || is_partial(*target)) return;
  if (!s.set.in_folder("LimitRange", s.object).empty()) return;  // it may give defaults
  for (const ScalingSignal& signal : scaler->signals) {
    const Value* container = is_utilization(signal) ? without_request(*target, signal) : nullptr;
    if (container == nullptr) continue;
    const Value& where = signal.metric->is_scalar() ? *signal.metric : *signal.block;
    Finding& finding = s.join(
        s.report(where,
                 fmt::format("{} utilization is a share of the request, and container {} of {} requests no {}: "
                             "the HPA computes nothing",
                             resource_of(signal), (*container)["name"].text, target->title(), resource_of(signal))),
        *target, target->name);
    if (target->file->is_patched(target->kind)) finding.as(Severity::info);  // a patch may add the request
    return;
  }
}

}  // namespace
}  // namespace hpa_cpu_request_missing

extern const Rule rule_hpa_cpu_request_missing;
const Rule rule_hpa_cpu_request_missing = {
    .id = "hpa-cpu-request-missing",
    .severity = Severity::error,
    .kinds = "HorizontalPodAutoscaler ScaledObject",
    .title = "an HPA aims at CPU utilization of containers that request no CPU",
    .why =
        "Utilization is usage divided by the request. If one container of the pod has no request, the HPA reports "
        "\"missing request for cpu\" and never scales; KEDA's webhook refuses the ScaledObject.",
    .fix = "requests.cpu in every container, or a target of type AverageValue",
    .source = "Kubernetes documentation, horizontal pod autoscaling; KEDA documentation, CPU scaler",
    .bad = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: router}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: router}
  minReplicas: 2
  maxReplicas: 4
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: router}
spec:
  selector: {matchLabels: {app: router}}
  template:
    spec:
      containers:
        - {name: router, image: "a:1", resources: {requests: {cpu: 500m}}}
        - {name: log-shipper, image: "b:1"}
)",
    .good = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: router}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: router}
  minReplicas: 2
  maxReplicas: 4
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: router}
spec:
  selector: {matchLabels: {app: router}}
  template:
    spec:
      containers:
        - {name: router, image: "a:1", resources: {requests: {cpu: 500m}}}
        - {name: log-shipper, image: "b:1", resources: {requests: {cpu: 50m}}}
)",
    .check = hpa_cpu_request_missing::check,
};

}  // namespace capstan::lint
