#include <fmt/format.h>

#include "lint/query.h"
#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace keda_null_as_zero {
namespace {

/// Returns true for a query of the form `x or y`, such as `x or vector(0)`: the author states the value to use if `x`
/// is missing.
bool has_default_value(const Query& query) {
  if (query.root() == nullptr) return false;
  const auto* node = std::get_if<promql::Binary>(&query.root()->node);
  return node != nullptr && node->op == promql::Binary::Op::or_;
}

void check(const Subject& s) {
  const Value& spec = s.object["spec"];
  const std::optional<Scaler> scaler = scaler_of(s.object);
  if (scaler->min_replicas == 0 || !scales_gpu(*scaler, s.set)) return;
  for (const auto& [signal, query] : s.queries().rows()) {
    const Value& metadata = (*signal.block)["metadata"];
    if (!signal.is_query() || metadata["ignoreNullValues"].is("false")) continue;
    if (query && has_default_value(*query)) continue;
    s.report_key((*signal.block)["metadata"]["query"],
                 fmt::format("if Prometheus returns no value, this trigger reads 0{} and the replicas fall to {}",
                             spec["fallback"] ? " (which is no failure, so the fallback is not used)" : "",
                             scaler->min_replicas));
    return;
  }
}

}  // namespace
}  // namespace keda_null_as_zero

extern const Rule rule_keda_null_as_zero;
const Rule rule_keda_null_as_zero = {
    .id = "keda-null-as-zero",
    .severity = Severity::info,
    .kinds = "ScaledObject",
    .title = "an empty result of Prometheus counts as no load",
    .why =
        "ignoreNullValues is true by default. An empty result then counts as zero, and the workload scales down to the "
        "minimum while requests wait. An outage of Prometheus itself is an error and not an empty result, so the "
        "finding is advice.",
    .fix = "set ignoreNullValues to \"false\" and add a fallback",
    .source = "kedacore/keda #3064, #3065",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: vllm}
  minReplicaCount: 1
  maxReplicaCount: 8
  triggers:
    - type: prometheus
      metadata: {query: 'sum(vllm:num_requests_waiting{namespace="a"})', threshold: "5"}
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: vllm}
  minReplicaCount: 1
  maxReplicaCount: 8
  fallback: {failureThreshold: 3, replicas: 4, behavior: currentReplicasIfHigher}
  triggers:
    - type: prometheus
      metadata:
        query: 'sum(vllm:num_requests_waiting{namespace="a"})'
        threshold: "5"
        ignoreNullValues: "false"
)",
    .check = keda_null_as_zero::check,
};

}  // namespace capstan::lint
