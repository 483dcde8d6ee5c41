#include <fmt/format.h>

#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace fallback_below_min {
namespace {

void check(const Subject& s) {
  const Value& fallback = s.object["spec"]["fallback"];
  const auto replicas = fallback["replicas"].integer();
  const std::int64_t min = scaler_of(s.object)->min_replicas;
  if (!replicas || *replicas >= min || (fallback["behavior"] && !fallback["behavior"].is("static"))) return;
  s.report(fallback["replicas"], fmt::format("the fallback is {} replicas, but the minimum is {}", *replicas, min))
      .replace(fallback["replicas"], std::to_string(min));
}

}  // namespace
}  // namespace fallback_below_min

extern const Rule rule_fallback_below_min;
const Rule rule_fallback_below_min = {
    .id = "fallback-below-min",
    .severity = Severity::info,
    .kinds = "ScaledObject",
    .title = "the fallback has fewer replicas than the minimum",
    .why =
        "The HPA never goes below its minimum, so the number of the fallback has no effect: while the metric is "
        "unavailable, the fleet falls to the minimum.",
    .fix = "set fallback.replicas to at least minReplicaCount, or behavior to currentReplicasIfHigher",
    .fix_safety = FixSafety::unsafe,
    .source = "llm-d queue guard",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: vllm}
  minReplicaCount: 4
  maxReplicaCount: 8
  fallback: {failureThreshold: 3, replicas: 1}
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: vllm}
  minReplicaCount: 4
  maxReplicaCount: 8
  fallback: {failureThreshold: 3, replicas: 4}
)",
    .check = fallback_below_min::check,
};

}  // namespace capstan::lint
