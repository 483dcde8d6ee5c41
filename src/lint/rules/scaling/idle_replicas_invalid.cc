#include <fmt/format.h>

#include <algorithm>

#include "lint/rule.h"

namespace capstan::lint {
namespace idle_replicas_invalid {
namespace {

/// As KEDA's webhook counts: a minimum of 0 is 1 for its HPA, and one that is not given is 0.
std::int64_t minimum_of(const Value& min) {
  const auto count = min.integer();
  return min ? std::max<std::int64_t>(count.value_or(1), 1) : 0;
}

void check(const Subject& s) {
  const Value& idle = s.object["spec"]["idleReplicaCount"];
  const Value& min = s.object["spec"]["minReplicaCount"];
  const auto count = idle.integer();
  if (!count || (min && !min.integer())) return;
  if (*count >= minimum_of(min)) {
    s.report(idle, min ? fmt::format("idleReplicaCount {} is not below minReplicaCount {}: the webhook refuses it",
                                     *count, min.text)
                       : fmt::format("idleReplicaCount {} without a minReplicaCount: the webhook refuses it", *count));
  } else if (*count != 0) {
    s.report(idle, fmt::format("idleReplicaCount {}: the HPA brings back its minimum; only 0 works", *count));
  }
}

}  // namespace
}  // namespace idle_replicas_invalid

extern const Rule rule_idle_replicas_invalid;
const Rule rule_idle_replicas_invalid = {
    .id = "idle-replicas-invalid",
    .severity = Severity::error,
    .kinds = "ScaledObject",
    .title = "idleReplicaCount must be 0, and below minReplicaCount",
    .why =
        "KEDA's webhook refuses an idle count that is not below the minimum, which counts as 0 where it is not given "
        "and as 1 where it says 0; any other than 0 is not supported by the HPA that it drives.",
    .fix = "idleReplicaCount 0 with a minReplicaCount of at least 1, or none",
    .source = "KEDA, CheckReplicaCountBoundsAreValid and GetHPAMinReplicas; its documentation, idleReplicaCount",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec: {scaleTargetRef: {name: vllm}, idleReplicaCount: 1, minReplicaCount: 2, maxReplicaCount: 4}
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec: {scaleTargetRef: {name: vllm}, idleReplicaCount: 0, minReplicaCount: 2, maxReplicaCount: 4}
)",
    .check = idle_replicas_invalid::check,
};

}  // namespace capstan::lint
