#include <fmt/format.h>

#include <algorithm>

#include "lint/cold_start.h"
#include "lint/container_start.h"
#include "lint/pods.h"
#include "lint/rule.h"
#include "lint/scalers.h"
#include "lint/serving.h"

namespace capstan::lint {
namespace scaledown_window_too_short {
namespace {

constexpr std::int64_t kMinStartS = 60;  ///< shortest start of a server that loads a model onto a GPU, seconds

bool scales_engine(const Scaler& scaler, const Set& set) {
  const Object* target = target_of(scaler, set);
  if (target == nullptr) return true;  // scales_gpu has found an inference metric, so the unknown target is an engine
  return std::ranges::any_of(gpu_pods_of(*target),
                             [](const GpuPod& found) { return engine_of(start_of(found.container)).has_value(); });
}

/// Returns the seconds that a replica of the target needs to start. If Karpenter launches the nodes, a replica may
/// first wait for a node.
std::int64_t start_of_target(const Scaler& scaler, const Set& set) {
  const Object* target = target_of(scaler, set);
  if (target == nullptr || !set.of_kind("NodePool").empty()) return kColdStartS;
  for (const GpuPod& found : gpu_pods_of(*target)) {
    const auto engine = engine_of(start_of(found.container));
    if (engine && serves_small_model(*engine)) return kTinyStartS;
  }
  return kColdStartS;
}

void check(const Subject& s) {
  const std::optional<Scaler> scaler = scaler_of(s.object);
  const Value& down = (*scaler->behavior)["scaleDown"];
  const auto window = down["stabilizationWindowSeconds"].integer();
  if (!window || *window >= kColdStartS || down["selectPolicy"].is("Disabled") || !scales_gpu(*scaler, s.set)) return;
  Finding& finding = s.report(
      down["stabilizationWindowSeconds"],
      fmt::format("the window of {} s is shorter than the start of a replica, so a short pause ends with a cold start",
                  *window));
  finding.replace(down["stabilizationWindowSeconds"], "600");
  // The start time is known only for known engines.
  if (*window >= kMinStartS && !scales_engine(*scaler, s.set)) finding.set_severity(Severity::info);
  const Object* target = target_of(*scaler, s.set);
  if (target != nullptr && !serves_model(*target)) finding.set_severity(Severity::info);
  if (*window >= start_of_target(*scaler, s.set) || consumes_queue(*scaler, s.set))
    finding.set_severity(Severity::info);
}

}  // namespace
}  // namespace scaledown_window_too_short

extern const Rule rule_scaledown_window_too_short;
const Rule rule_scaledown_window_too_short = {
    .id = "scaledown-window-too-short",
    .severity = Severity::warning,
    .kinds = "HorizontalPodAutoscaler ScaledObject",
    .title = "the scale-down window is shorter than a cold start",
    .why =
        "In a pause shorter than an engine's start, replicas are removed, and they are needed again before new ones "
        "are ready. For a small model on existing nodes, and for a consumer of a queue, the finding is advice.",
    .fix = "set stabilizationWindowSeconds to 600, and at least to 300",
    .fix_safety = FixSafety::unsafe,
    .source = "HPA behavior; measured cold starts of 2 to 8 minutes",
    .bad = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
spec:
  scaleTargetRef: {kind: Deployment, name: a}
  minReplicas: 2
  maxReplicas: 9
  metrics:
    - type: Pods
      pods: {metric: {name: vllm_num_requests_waiting}, target: {type: AverageValue, averageValue: "5"}}
  behavior:
    scaleDown:
      stabilizationWindowSeconds: 120
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
    scaleDown:
      stabilizationWindowSeconds: 600
)",
    .check = scaledown_window_too_short::check,
};

}  // namespace capstan::lint
