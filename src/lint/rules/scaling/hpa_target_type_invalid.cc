#include <fmt/format.h>

#include <algorithm>

#include "lint/rule.h"

namespace capstan::lint {
namespace hpa_target_type_invalid {
namespace {

constexpr std::string_view kTypes[] = {"Utilization", "Value", "AverageValue"};

void check(const Subject& s) {
  if (!s.object.version.starts_with("v2")) return;  // v1 has no metrics
  for (const Value& metric : s.object["spec"]["metrics"].children()) {
    for (const std::string_view source : {"resource", "containerResource", "pods", "object", "external"}) {
      const Value& type = metric[source]["target"]["type"];
      if (!type || is_template_variable(type.text)) continue;
      if (std::ranges::find(kTypes, type.text) != std::end(kTypes)) continue;
      s.report(type, fmt::format("found \"{}\", expected Utilization, Value or AverageValue, so the API server refuses "
                                 "the HPA",
                                 type.text));
    }
  }
}

}  // namespace
}  // namespace hpa_target_type_invalid

extern const Rule rule_hpa_target_type_invalid;
const Rule rule_hpa_target_type_invalid = {
    .id = "hpa-target-type-invalid",
    .severity = Severity::error,
    .kinds = "HorizontalPodAutoscaler",
    .title = "the target of a metric has a type that does not exist",
    .why = "The API server refuses the object, so the workload is not scaled.",
    .fix = "use Utilization for CPU and memory, AverageValue for a value per replica, and Value for a value as it is",
    .source = "Kubernetes API reference, autoscaling/v2 MetricTarget",
    .bad = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: a}
spec:
  scaleTargetRef: {kind: Deployment, name: a}
  maxReplicas: 4
  metrics:
    - type: Pods
      pods: {metric: {name: vllm_num_requests_waiting}, target: {type: Average, averageValue: "5"}}
  behavior: {scaleDown: {stabilizationWindowSeconds: 600}}
)",
    .good = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: a}
spec:
  scaleTargetRef: {kind: Deployment, name: a}
  maxReplicas: 4
  metrics:
    - type: Pods
      pods: {metric: {name: vllm_num_requests_waiting}, target: {type: AverageValue, averageValue: "5"}}
  behavior: {scaleDown: {stabilizationWindowSeconds: 600}}
)",
    .check = hpa_target_type_invalid::check,
};

}  // namespace capstan::lint
