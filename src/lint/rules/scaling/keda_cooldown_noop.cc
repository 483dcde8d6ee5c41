#include <fmt/format.h>

#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace keda_cooldown_noop {
namespace {

constexpr std::int64_t kWindowS = 300;  ///< default window of the HPA before a scale-down, seconds

void check(const Subject& s) {
  const Value& spec = s.object["spec"];
  const Value& cooldown = spec["cooldownPeriod"];
  const std::optional<Scaler> scaler = scaler_of(s.object);
  if (!cooldown || scaler->min->integer().value_or(0) < 1 || spec["idleReplicaCount"].is("0") ||
      (*scaler->behavior)["scaleDown"])
    return;
  Finding& finding =
      s.report(cooldown, fmt::format("cooldownPeriod {} has no effect: it delays only the step to zero, but "
                                     "minReplicaCount is {}",
                                     cooldown.text, scaler->min_replicas))
          .remove_entry(spec, cooldown);
  // By default, the HPA waits for the same time before it lowers replicas, so the fleet does what the author expects.
  if (cooldown.integer() == kWindowS) finding.set_severity(Severity::info);
}

}  // namespace
}  // namespace keda_cooldown_noop

extern const Rule rule_keda_cooldown_noop;
const Rule rule_keda_cooldown_noop = {
    .id = "keda-cooldown-noop",
    .severity = Severity::warning,
    .kinds = "ScaledObject",
    .title = "cooldownPeriod has no effect if minReplicaCount is 1 or more",
    .why =
        "KEDA applies cooldownPeriod only before the step to zero replicas. The HPA makes all other steps down. "
        "After a window of 300 s it may remove all replicas above the minimum within 15 s. The next burst then needs "
        "cold starts. The finding is advice for 300 s, which is the HPA's window anyway.",
    .fix =
        "delete it; to slow down a scale-down set "
        "advanced.horizontalPodAutoscalerConfig.behavior.scaleDown.stabilizationWindowSeconds",
    .fix_safety = FixSafety::safe,
    .source = "KEDA documentation, cooldownPeriod: \"only applies when scaling to 0\"",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: vllm-scaler}
spec:
  scaleTargetRef: {name: vllm}
  minReplicaCount: 1
  maxReplicaCount: 8
  cooldownPeriod: 300
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: vllm-scaler}
spec:
  scaleTargetRef: {name: vllm}
  minReplicaCount: 1
  maxReplicaCount: 8
)",
    .check = keda_cooldown_noop::check,
};

}  // namespace capstan::lint
