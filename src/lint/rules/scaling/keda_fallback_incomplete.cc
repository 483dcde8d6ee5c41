#include <fmt/format.h>

#include "lint/rule.h"

namespace capstan::lint {
namespace keda_fallback_incomplete {
namespace {

void check(const Subject& s) {
  const Value& fallback = s.object["spec"]["fallback"];
  if (!fallback.is_mapping()) return;
  for (const std::string_view field : {"failureThreshold", "replicas"}) {
    if (fallback.has(field)) continue;
    s.report_key(fallback, fmt::format("the fallback has no {}, so the API server refuses the object", field))
        .mark_absence();
  }
}

}  // namespace
}  // namespace keda_fallback_incomplete

extern const Rule rule_keda_fallback_incomplete;
const Rule rule_keda_fallback_incomplete = {
    .id = "keda-fallback-incomplete",
    .severity = Severity::error,
    .kinds = "ScaledObject",
    .title = "the fallback of a ScaledObject lacks a required field",
    .why =
        "The API server refuses the object, so the workload is not scaled, or an earlier version of the object stays. "
        "replicas is required with every behavior.",
    .fix = "state both failureThreshold and replicas",
    .source = "KEDA's CustomResourceDefinition of ScaledObject",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: a}
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 2
  maxReplicaCount: 8
  fallback: {replicas: 4}
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: a}
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 2
  maxReplicaCount: 8
  fallback: {failureThreshold: 3, replicas: 4}
)",
    .check = keda_fallback_incomplete::check,
};

}  // namespace capstan::lint
