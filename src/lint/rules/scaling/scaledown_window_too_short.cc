#include <fmt/format.h>

#include <algorithm>

#include "lint/cold_start.h"
#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace scaledown_window_too_short {
namespace {

/// Returns true if the policies remove at most one replica in the time that a replica needs to start.
bool removes_slowly(const Value& down, std::int64_t start_s) {
  const Value& policies = down["policies"];
  return policies.count > 0 && std::ranges::all_of(policies.children(), [&](const Value& policy) {
           return policy["type"].is("Pods") && policy["value"].integer().value_or(2) <= 1 &&
                  policy["periodSeconds"].integer().value_or(0) >= start_s;
         });
}

void check(const Subject& s) {
  const std::optional<Scaler> scaler = scaler_of(s.object);
  const Value& down = (*scaler->behavior)["scaleDown"];
  const auto window = down["stabilizationWindowSeconds"].integer();
  if (!window || *window >= kColdStartS || down["selectPolicy"].is("Disabled") || !scales_gpu(*scaler, s.set)) return;
  const std::int64_t start = shortest_start_s(*scaler, s.set).value_or(0);
  const bool is_certain = *window < start;
  Finding& finding = s.report(
      down["stabilizationWindowSeconds"],
      is_certain
          ? fmt::format("the window of {} s is shorter than the start of a replica, which takes at least {} s, so "
                        "a short pause ends with a cold start",
                        *window, start)
          : fmt::format("the window of {} s may be shorter than the start of a replica, so a short pause ends with "
                        "a cold start",
                        *window));
  finding.replace(down["stabilizationWindowSeconds"], "600");
  if (!is_certain || removes_slowly(down, start) || consumes_queue(*scaler, s.set))
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
        "are ready. The finding is a warning if the window is shorter than the shortest possible start: 20 s for any "
        "engine of language models, more for a model whose name states its size or for a probe with an initial delay. "
        "Otherwise, for a consumer of a queue, and for policies that remove one pod per start, it is advice.",
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
      stabilizationWindowSeconds: 0
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
