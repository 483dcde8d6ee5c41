#include <fmt/format.h>

#include <algorithm>

#include "lint/cold_start.h"
#include "lint/container_start.h"
#include "lint/pods.h"
#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace hpa_missing_scaledown_behavior {
namespace {

/// Returns true if a new replica surely starts slowly: the target runs an engine of language models, and its model is
/// not known to be small. A target that is not in the input is judged by the signals, which name an engine.
bool starts_slowly(const Scaler& scaler, const Set& set) {
  const Object* target = target_of(scaler, set);
  if (target == nullptr) return true;
  return std::ranges::any_of(gpu_pods_of(*target), [](const GpuPod& found) {
    return runs_language_engine(found.container) &&
           weights_gb(found.container).value_or(kSmallWeightsGb + 1) > kSmallWeightsGb;
  });
}

void check(const Subject& s) {
  if (s.object["apiVersion"].is("autoscaling/v2beta1")) return;  // it has no behavior
  const std::optional<Scaler> scaler = scaler_of(s.object);
  if ((*scaler->behavior)["scaleDown"] || scaler->signals.empty() || !scales_gpu(*scaler, s.set)) return;
  const std::int64_t floor = std::max<std::int64_t>(scaler->min_replicas, 1);  // a step to zero waits for the cooldown
  const std::optional<std::int64_t> max = scaler->max->integer();
  if (max && *max - floor <= 1) return;  // only one replica can be removed
  Finding& finding = s.report(
      *scaler->target_name,
      fmt::format("without behavior.scaleDown {} may lose all replicas above {} within 15 s, after 300 s of low load",
                  scaler->target_name->text, floor));
  finding.mark_absence();
  if (consumes_queue(*scaler, s.set) || !starts_slowly(*scaler, s.set)) finding.set_severity(Severity::info);
}

}  // namespace
}  // namespace hpa_missing_scaledown_behavior

extern const Rule rule_hpa_missing_scaledown_behavior;
const Rule rule_hpa_missing_scaledown_behavior = {
    .id = "hpa-missing-scaledown-behavior",
    .severity = Severity::warning,
    .kinds = "HorizontalPodAutoscaler ScaledObject",
    .title = "a GPU workload scales down at the speed of the defaults",
    .why =
        "After 300 s of low load an HPA may remove all replicas above the minimum within 15 s. The next burst then "
        "needs a cold start for each of them. For a workload that takes its work from a queue the finding is advice, "
        "because no user waits. It is also advice unless the workload runs an engine of language models whose model is "
        "not small.",
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
