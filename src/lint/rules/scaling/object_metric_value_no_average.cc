#include <fmt/format.h>

#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace object_metric_value_no_average {
namespace {

void check(const Subject& s) {
  for (const ScalingSignal& signal : signals_of(s.object)) {
    const std::string_view name = signal.metric->text;
    if (signal.source != SignalSource::object || signal.is_averaged || !*signal.target) continue;
    if (name.find("waiting") == name.npos && name.find("queue") == name.npos && name.find("pending") == name.npos)
      continue;
    s.report(*signal.target,
             fmt::format("the total of {} is compared with {}, which is not per replica", name, signal.target->text));
  }
}

}  // namespace
}  // namespace object_metric_value_no_average

extern const Rule rule_object_metric_value_no_average;
const Rule rule_object_metric_value_no_average = {
    .id = "object-metric-value-no-average",
    .severity = Severity::warning,
    .kinds = "HorizontalPodAutoscaler",
    .title = "the total of a queue is compared with a target that is not per replica",
    .why =
        "With type Value the HPA multiplies the current replicas by the total divided by the target. A queue of 50 "
        "with a target of 1 asks for fifty times the replicas, not for 50.",
    .fix = "use type AverageValue with the number of waiting requests per replica",
    .source = "vLLM production-stack hpa-10.yaml",
    .bad = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
spec:
  scaleTargetRef: {kind: Deployment, name: a}
  minReplicas: 1
  maxReplicas: 9
  metrics:
    - type: Object
      object:
        metric: {name: vllm_num_requests_waiting}
        describedObject: {kind: Service, name: vllm, apiVersion: v1}
        target: {type: Value, value: "1"}
  behavior: {scaleDown: {stabilizationWindowSeconds: 600}}
)",
    .good = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
spec:
  scaleTargetRef: {kind: Deployment, name: a}
  minReplicas: 1
  maxReplicas: 9
  metrics:
    - type: Object
      object:
        metric: {name: vllm_num_requests_waiting}
        describedObject: {kind: Service, name: vllm, apiVersion: v1}
        target: {type: AverageValue, averageValue: "5"}
  behavior: {scaleDown: {stabilizationWindowSeconds: 600}}
)",
    .check = object_metric_value_no_average::check,
};

}  // namespace capstan::lint
