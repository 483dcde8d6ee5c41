#include <fmt/format.h>

#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace unsafe_absolute_threshold {
namespace {

void check(const Subject& s) {
  if (has_formula(s.object)) return;  // only the target of the formula has an effect
  for (const ScalingSignal& signal : signals_of(s.object)) {
    const std::string_view name = signal.metric->text;
    const auto bound = signal.target->number();
    if (!signal.is_averaged || !bound || *bound > 1 || !is_inference_metric(name)) continue;
    if (name.find("waiting") == name.npos && name.find("queue") == name.npos) continue;
    s.report(*signal.target,
             fmt::format("a target of {} waiting requests per replica adds replicas at the first waiting request",
                         signal.target->text));
  }
}

}  // namespace
}  // namespace unsafe_absolute_threshold

extern const Rule rule_unsafe_absolute_threshold;
const Rule rule_unsafe_absolute_threshold = {
    .id = "unsafe-absolute-threshold",
    .severity = Severity::info,
    .kinds = "@scaler",
    .title = "one waiting request is enough to add a replica",
    .why =
        "Every engine has one waiting request now and then. It is served long before a new replica has started, and "
        "the replica costs GPU time.",
    .fix = "set the target to 3 to 10 waiting requests per replica",
    .source = "the queue length threshold of llm-d's autoscaler is 5",
    .bad = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
spec:
  scaleTargetRef: {kind: Deployment, name: a}
  minReplicas: 2
  maxReplicas: 4
  metrics:
    - type: Pods
      pods: {metric: {name: vllm_num_requests_waiting}, target: {type: AverageValue, averageValue: "1"}}
)",
    .good = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
spec:
  scaleTargetRef: {kind: Deployment, name: a}
  minReplicas: 2
  maxReplicas: 4
  metrics:
    - type: Pods
      pods: {metric: {name: vllm_num_requests_waiting}, target: {type: AverageValue, averageValue: "5"}}
)",
    .check = unsafe_absolute_threshold::check,
};

}  // namespace capstan::lint
