#include <fmt/format.h>

#include <algorithm>

#include "lint/query.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace ratio_value_target_ceiling {
namespace {

bool names_share(std::string_view name) {
  return is_ratio_metric(name) || name.ends_with("_ratio") || name.find("usage_perc") != name.npos;
}

void check(const Subject& s) {
  for (const ScalingSignal& signal : signals_of(s.object)) {
    const auto target = signal.target->number();
    if (!target || *target <= 0.7 || *target > 1 || !names_share(signal.metric->text)) continue;
    s.report(*signal.target, fmt::format("{} is at most 1: one step grows the fleet {:.2f} times at best",
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
    .title = "a share near 1 can ask for little more",
    .why =
        "The ratio to the target is at most 1 / target: from 0.75 the fleet grows by a third a step at best, and "
        "within 10 % of the target not at all.",
    .fix = "a queue metric beside it",
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
