#include <fmt/format.h>

#include <algorithm>

#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace hpa_missing_scaledown_behavior {
namespace {

void check(const Subject& s) {
  const std::optional<Scaler> scaler = scaler_of(s.object);
  if ((*scaler->behavior)["scaleDown"] || scaler->signals.empty() || !scales_gpu(*scaler, s.set)) return;
  const std::int64_t floor =
      std::max<std::int64_t>(scaler->min_replicas, 1);  // the last step, to zero, waits for a cooldown
  const std::optional<std::int64_t> most = scaler->max->integer();
  if (most && *most - floor <= 1) return;  // one at a time is what it is anyway
  s.report(*scaler->target_name,
           fmt::format("after 300 s without need {} may lose all replicas above {} within 15 s: no behavior.scaleDown",
                       scaler->target_name->text, floor))
      .about_absence();
}

}  // namespace
}  // namespace hpa_missing_scaledown_behavior

extern const Rule rule_hpa_missing_scaledown_behavior;
const Rule rule_hpa_missing_scaledown_behavior = {
    .id = "hpa-missing-scaledown-behavior",
    .severity = Severity::warning,
    .kinds = "HorizontalPodAutoscaler ScaledObject",
    .title = "a GPU workload scales down as fast as the defaults allow",
    .why =
        "After 300 s without need an HPA may take away all replicas above the floor within 15 s. The next burst pays a "
        "cold start for each of them.",
    .fix = "behavior.scaleDown with a window of 600 s and one pod every few minutes",
    .source = "Kubernetes HPA defaults",
    .bad = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
spec:
  scaleTargetRef: {kind: Deployment, name: a}
  minReplicas: 2
  maxReplicas: 9
  metrics:
    - type: Pods
      pods: {metric: {name: vllm_num_requests_waiting}, target: {type: AverageValue, averageValue: "5"}}
)",
    .good = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
spec:
  scaleTargetRef: {kind: Deployment, name: a}
  minReplicas: 2
  maxReplicas: 9
  metrics:
    - type: Pods
      pods: {metric: {name: vllm_num_requests_waiting}, target: {type: AverageValue, averageValue: "5"}}
  behavior:
    scaleDown: {stabilizationWindowSeconds: 600, policies: [{type: Pods, value: 1, periodSeconds: 300}]}
)",
    .check = hpa_missing_scaledown_behavior::check,
};

}  // namespace capstan::lint
