#include <fmt/format.h>

#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace hpa_cpu_request_missing {
namespace {

void check(const Subject& s) {
  const std::optional<Scaler> scaler = scaler_of(s.object);
  for (const ScalingSignal& signal : scaler->signals) {
    const Value* container = container_without_request(*scaler, signal, s.set);
    if (container == nullptr) continue;
    const Object* target = target_of(*scaler, s.set);
    const std::string_view resource = requested_resource(signal);
    const Value& place = signal.metric->is_scalar() ? *signal.metric : *signal.block;
    Finding& finding = s.require_object(
        s.report(place, fmt::format("{} utilization is relative to the request, but container {} of {} requests no {}, "
                                    "so the HPA computes no value",
                                    resource, (*container)["name"].text, target->title(), resource)),
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
