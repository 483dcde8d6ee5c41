#include <fmt/format.h>

#include <algorithm>

#include "lint/cold_start.h"
#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace hpa_missing_scaledown_behavior {
namespace {

constexpr std::int64_t kDefaultWindowS = 300;

void check(const Subject& s) {
  if (s.object["apiVersion"].is("autoscaling/v2beta1")) return;  // it has no behavior
  const std::optional<Scaler> scaler = scaler_of(s.object);
  if ((*scaler->behavior)["scaleDown"] || scaler->signals.empty() || !scales_gpu(*scaler, s.set)) return;
  if (never_scales_down(*scaler, s.set)) return;
  const std::int64_t floor = std::max<std::int64_t>(scaler->min_replicas, 1);  // a step to zero waits for the cooldown
  const std::optional<std::int64_t> max = scaler->max->integer();
  if (max && *max - floor <= 1) return;  // only one replica can be removed
  Finding& finding = s.report(
      *scaler->target_name,
      fmt::format("without behavior.scaleDown {} may lose all replicas above {} within 15 s, after 300 s of low load",
                  scaler->target_name->text, floor));
  const bool starts_slowly = shortest_start_s(*scaler, s.set).value_or(0) > kDefaultWindowS;
  if (starts_slowly && !consumes_queue(*scaler, s.set)) finding.set_severity(Severity::warning);
  finding.mark_absence();
}

}  // namespace
}  // namespace hpa_missing_scaledown_behavior

extern const Rule rule_hpa_missing_scaledown_behavior;
const Rule rule_hpa_missing_scaledown_behavior = {
    .id = "hpa-missing-scaledown-behavior",
    .severity = Severity::info,
    .kinds = "HorizontalPodAutoscaler ScaledObject",
    .title = "a GPU workload scales down at the speed of the defaults",
    .why =
        "After 300 s of low load an HPA may remove all replicas above the minimum within 15 s. The next burst then "
        "needs a cold start for each of them. The defaults are right for many workloads, so the finding is advice. It "
        "is a warning if a replica surely starts in more than 300 s: the size of its model or an initial delay of a "
        "probe shows that, and users wait for it. There is no finding for an HPA that cannot scale down.",
    .fix = "set behavior.scaleDown to a window of 600 s and one pod every few minutes",
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
