#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace keda_fallback_missing {
namespace {

void check(const Subject& s) {
  const Value& spec = s.object["spec"];
  if (spec["fallback"] || !spec["triggers"] || !scales_gpu(*scaler_of(s.object), s.set)) return;
  s.report_key(spec["triggers"], "the ScaledObject has no fallback for the time when the metric is unavailable");
}

}  // namespace
}  // namespace keda_fallback_missing

extern const Rule rule_keda_fallback_missing;
const Rule rule_keda_fallback_missing = {
    .id = "keda-fallback-missing",
    .severity = Severity::info,
    .kinds = "ScaledObject",
    .title = "a GPU ScaledObject has no fallback",
    .why = "While the metric is unavailable KEDA does not scale. At best the HPA keeps the current replicas.",
    .fix = "add fallback with failureThreshold 3 and behavior currentReplicasIfHigher",
    .source = "KEDA documentation, fallback",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: vllm}
  minReplicaCount: 2
  maxReplicaCount: 8
  triggers:
    - type: prometheus
      metadata:
        query: 'sum(vllm:num_requests_waiting{namespace="a"})'
        threshold: "5"
        ignoreNullValues: "false"
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: vllm}
  minReplicaCount: 2
  maxReplicaCount: 8
  fallback: {failureThreshold: 3, replicas: 4, behavior: currentReplicasIfHigher}
  triggers:
    - type: prometheus
      metadata:
        query: 'sum(vllm:num_requests_waiting{namespace="a"})'
        threshold: "5"
        ignoreNullValues: "false"
)",
    .check = keda_fallback_missing::check,
};

}  // namespace capstan::lint
