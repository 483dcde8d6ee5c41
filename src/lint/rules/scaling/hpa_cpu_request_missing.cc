#include <fmt/format.h>

#include "lint/pods.h"
#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace hpa_cpu_request_missing {
namespace {

/// Returns true if the target of a signal is relative to the requests of the containers.
bool is_utilization(const ScalingSignal& signal) {
  if (signal.source != SignalSource::resource) return false;
  const Value& target =
      at(*signal.block, signal.type == "ContainerResource" ? "containerResource.target" : "resource.target");
  if (target) return static_cast<bool>(target["averageUtilization"]);
  if (signal.block->key == "targetCPUUtilizationPercentage") return true;
  // KEDA has `metricType`; older manifests have `metadata.type`.
  const Value& metric_type = (*signal.block)["metricType"];
  return metric_type.is("Utilization") || (!metric_type && at(*signal.block, "metadata.type").is("Utilization"));
}

std::string_view resource_of(const ScalingSignal& signal) { return signal.metric->text == "memory" ? "memory" : "cpu"; }

/// Returns the container that a signal of type ContainerResource measures; empty means all containers.
std::string_view container_of(const ScalingSignal& signal) {
  const Value& name = at(*signal.block, "containerResource.container");
  return name ? name.text : at(*signal.block, "metadata.containerName").text;
}

/// Returns true if the container has a request. Kubernetes copies a limit without a request to the request.
bool has_request(const Value& container, std::string_view resource) {
  const Value& resources = container["resources"];
  if (resources.is_scalar()) return true;  // a template variable
  return resources["requests"][resource] || resources["limits"][resource];
}

/// Returns the first container whose missing request prevents the HPA from computing utilization; null if there is
/// none.
const Value* container_without_request(const Object& target, const ScalingSignal& signal) {
  for (const Pod& pod : pods_of(target)) {
    if ((*pod.spec)["resources"]) continue;  // the pod has resources of its own
    for (const Value* container : containers_of(pod)) {
      const std::string_view container_name = container_of(signal);
      if (!container_name.empty() && !(*container)["name"].is(container_name)) continue;
      if ((*container)["name"] && !has_request(*container, resource_of(signal))) return container;
    }
  }
  return nullptr;
}

void check(const Subject& s) {
  const std::optional<Scaler> scaler = scaler_of(s.object);
  const Object* target = scaler->scales_itself ? nullptr : target_of(*scaler, s.set);
  if (target == nullptr || is_operated(*target) || is_partial(*target)) return;
  if (!s.set.in_folder("LimitRange", s.object).empty()) return;  // a LimitRange may set default requests
  for (const ScalingSignal& signal : scaler->signals) {
    const Value* container = is_utilization(signal) ? container_without_request(*target, signal) : nullptr;
    if (container == nullptr) continue;
    const Value& place = signal.metric->is_scalar() ? *signal.metric : *signal.block;
    Finding& finding = s.require_object(
        s.report(place,
                 fmt::format("{} utilization is relative to the request, but container {} of {} requests no {}, "
                             "so the HPA computes no value",
                             resource_of(signal), (*container)["name"].text, target->title(), resource_of(signal))),
        *target, target->name);
    if (target->file->is_patched(target->kind)) finding.set_severity(Severity::info);  // a patch may add the request
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
    .title = "an HPA uses CPU utilization, but containers request no CPU",
    .why =
        "Utilization is usage divided by the request. If one container of the pod has no request, the HPA reports "
        "\"missing request for cpu\" and never scales. KEDA's webhook refuses the ScaledObject.",
    .fix = "set requests.cpu in every container, or use a target of type AverageValue",
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
