#include <fmt/format.h>

#include "lint/facts.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace keda_metricname_removed {
namespace {

void check(const Subject& s) {
  for (const Value& trigger : at(s.object, "spec.triggers").children()) {
    const Value& name = trigger["metadata"]["metricName"];
    if (!name || !trigger["type"].is("prometheus")) continue;
    s.report_key(name, fmt::format("metricName \"{}\" has been ignored since KEDA {}", name.text,
                                   since_version("keda-metricname-ignored")))
        .remove_entry(trigger["metadata"], name);
  }
}

}  // namespace
}  // namespace keda_metricname_removed

extern const Rule rule_keda_metricname_removed;
const Rule rule_keda_metricname_removed = {
    .id = "keda-metricname-removed",
    .severity = Severity::warning,
    .kinds = "ScaledObject ScaledJob",
    .title = "a prometheus trigger has a metricName, which KEDA 2.12 removed",
    .why = "KEDA ignores it silently. Dashboards and alerts that expect this name find no metric.",
    .fix = "delete it; set the trigger's `name` to name it",
    .fix_safety = FixSafety::safe,
    .source = "KEDA changelog 2.12",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: vllm}
  minReplicaCount: 1
  maxReplicaCount: 8
  triggers:
    - type: prometheus
      metadata:
        metricName: vllm_requests_waiting
        query: sum(vllm:num_requests_waiting{namespace="a"})
        threshold: "5"
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: vllm}
  minReplicaCount: 1
  maxReplicaCount: 8
  triggers:
    - type: prometheus
      metadata:
        query: sum(vllm:num_requests_waiting{namespace="a"})
        threshold: "5"
)",
    .check = keda_metricname_removed::check,
};

}  // namespace capstan::lint
