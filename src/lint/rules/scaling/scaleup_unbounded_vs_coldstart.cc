#include <fmt/format.h>

#include <algorithm>

#include "lint/cold_start.h"
#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace scaleup_unbounded_vs_coldstart {
namespace {

/// Returns true if a signal counts the replicas that are starting, or is itself a number of replicas.
bool counts_starting(const Subject& s, const Scaler& scaler) {
  const auto names_starting = [](std::string_view text) {
    for (const std::string_view word : {"unavailable", "not_ready", "pending", "desired_replicas", "starting"}) {
      if (text.find(word) != text.npos) return true;
    }
    return false;
  };
  return names_starting(at(s.object, "spec.advanced.scalingModifiers.formula").text) ||
         std::ranges::any_of(scaler.signals,
                             [&](const ScalingSignal& signal) { return names_starting(signal.metric->text); });
}

/// Returns true if the policies allow no more than the HPA's default policies: in 15 s, 100 % or 4 pods. Without
/// policies the result does not matter, because the rule then reports nothing.
bool are_within_default(const Value& up) {
  return std::ranges::all_of(up["policies"].children(), [](const Value& policy) {
    const std::int64_t most = policy["type"].is("Percent") ? 100 : 4;
    return policy["value"].integer().value_or(0) <= most && policy["periodSeconds"].integer().value_or(0) >= 15;
  });
}

/// Returns true if a signal makes the replicas grow again every period: the HPA multiplies the replicas by value /
/// target, and counts starting replicas too. A target per replica asks for a number that does not depend on the
/// replicas.
bool multiplies_replicas(const ScalingSignal& signal) {
  const bool is_from_outside = signal.source == SignalSource::object || signal.source == SignalSource::external ||
                               signal.source == SignalSource::prometheus;
  return is_from_outside && !signal.is_averaged;
}

void check(const Subject& s) {
  const std::optional<Scaler> scaler = scaler_of(s.object);
  const Value& up = (*scaler->behavior)["scaleUp"];
  if (!up || up["stabilizationWindowSeconds"].integer().value_or(0) > 0 || up["selectPolicy"].is("Min")) return;
  if (!scales_gpu(*scaler, s.set) || counts_starting(s, *scaler)) return;
  for (const Value& policy : up["policies"].children()) {
    const auto percent = policy["value"].integer();
    const auto period = policy["periodSeconds"].integer();
    if (!policy["type"].is("Percent") || !percent || !period || *percent < 100 || *period > 30) continue;
    Finding& finding =
        s.report(policy["value"],
                 fmt::format("the replicas may grow by {} % every {} s, but new replicas serve only after minutes",
                             *percent, *period));
    const bool starts_slowly = shortest_start_s(*scaler, s.set).value_or(0) > *period;
    if (are_within_default(up) || !starts_slowly || std::ranges::none_of(scaler->signals, multiplies_replicas))
      finding.set_severity(Severity::info);
  }
}

}  // namespace
}  // namespace scaleup_unbounded_vs_coldstart

extern const Rule rule_scaleup_unbounded_vs_coldstart;
const Rule rule_scaleup_unbounded_vs_coldstart = {
    .id = "scaleup-unbounded-vs-coldstart",
    .severity = Severity::warning,
    .kinds = "HorizontalPodAutoscaler ScaledObject",
    .title = "the replicas may double again before the first new ones are ready",
    .why =
        "New replicas serve only minutes later. Until then the queue grows, and the HPA doubles the replicas again "
        "every period. The fleet overshoots to its maximum, and all its GPUs cost money. The finding is advice if the "
        "policies allow no more than the HPA does by default. It is also advice if all targets are values per replica, "
        "because the HPA then asks for the same number of replicas in every period.",
    .fix = "add a few pods per period, with a period as long as a cold start, or set a window for scaleUp",
    .source = "llm-d token-aware scaling and queue guard",
    .bad = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
spec:
  scaleTargetRef: {kind: Deployment, name: a}
  minReplicas: 2
  maxReplicas: 9
  metrics:
    - type: External
      external: {metric: {name: vllm_time_to_first_token_p95}, target: {type: Value, value: "2"}}
  behavior:
    scaleUp: {stabilizationWindowSeconds: 0, policies: [{type: Percent, value: 200, periodSeconds: 15}]}
    scaleDown: {stabilizationWindowSeconds: 600}
)",
    .good = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
spec:
  scaleTargetRef: {kind: Deployment, name: a}
  minReplicas: 2
  maxReplicas: 9
  metrics:
    - type: External
      external: {metric: {name: vllm_time_to_first_token_p95}, target: {type: Value, value: "2"}}
  behavior:
    scaleUp: {policies: [{type: Pods, value: 1, periodSeconds: 180}]}
    scaleDown: {stabilizationWindowSeconds: 600}
)",
    .check = scaleup_unbounded_vs_coldstart::check,
};

}  // namespace capstan::lint
