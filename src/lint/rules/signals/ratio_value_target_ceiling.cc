#include <fmt/format.h>

#include <algorithm>

#include "lint/query.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace ratio_value_target_ceiling {
namespace {

bool is_ratio(std::string_view name) {
  return is_ratio_metric(name) || name.ends_with("_ratio") || name.find("usage_perc") != name.npos;
}

void check(const Subject& s) {
  for (const ScalingSignal& signal : signals_of(s.object)) {
    const auto target = signal.target->number();
    if (!target || *target <= 0.7 || *target > 1 || !is_ratio(signal.metric->text)) continue;
    s.report(*signal.target, fmt::format("{} is at most 1, so one step multiplies the replicas by at most {:.2f}",
                                         signal.metric->text, 1 / *target));
  }
}

}  // namespace
}  // namespace ratio_value_target_ceiling

extern const Rule rule_ratio_value_target_ceiling;
const Rule rule_ratio_value_target_ceiling = {
    .id = "ratio-value-target-ceiling",
    .severity = Severity::info,
    .kinds = "HorizontalPodAutoscaler",
    .title = "a target near 1 for a ratio allows only small steps",
    .why =
        "The HPA multiplies the replicas by value / target, which is at most 1 / target. With a target of 0.75 the "
        "replicas grow by at most a third per step, and within 10 % of the target they do not grow.",
    .fix = "add a queue metric",
    .source = "Kubernetes HPA algorithm and tolerance",
    .bad = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
spec:
  scaleTargetRef: {kind: Deployment, name: a}
  minReplicas: 2
  maxReplicas: 4
  metrics:
    - type: Pods
      pods: {metric: {name: inference_kv_cache_usage_ratio}, target: {type: AverageValue, averageValue: "0.75"}}
)",
    .good = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
spec:
  scaleTargetRef: {kind: Deployment, name: a}
  minReplicas: 2
  maxReplicas: 4
  metrics:
    - type: Pods
      pods: {metric: {name: inference_requests_waiting}, target: {type: AverageValue, averageValue: "4"}}
)",
    .check = ratio_value_target_ceiling::check,
};

}  // namespace capstan::lint
