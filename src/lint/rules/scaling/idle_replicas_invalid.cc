#include <fmt/format.h>

#include <algorithm>

#include "lint/rule.h"

namespace capstan::lint {
namespace idle_replicas_invalid {
namespace {

/// Returns the minimum as KEDA's webhook computes it: 1 for a minimum of 0, and 0 for a missing minimum.
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
    s.report(idle, min ? fmt::format("idleReplicaCount {} is not below minReplicaCount {}, so the webhook refuses it",
                                     *count, min.text)
                       : fmt::format("the webhook refuses idleReplicaCount {} without a minReplicaCount", *count));
  } else if (*count != 0) {
    s.report(idle,
             fmt::format("idleReplicaCount is {}, but only 0 works, because the HPA restores its minimum", *count));
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
        "KEDA's webhook refuses an idle count that is not below the minimum. A missing minimum counts as 0, and a "
        "minimum of 0 counts as 1. The HPA supports no idle count other than 0.",
    .fix = "set idleReplicaCount to 0 and minReplicaCount to at least 1, or delete idleReplicaCount",
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
