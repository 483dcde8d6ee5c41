#include <fmt/format.h>

#include "lint/facts.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace keda_metadata_type_removed {
namespace {

void check(const Subject& s) {
  for (const Value& trigger : at(s.object, "spec.triggers").children()) {
    const bool is_resource = trigger["type"].is("cpu") || trigger["type"].is("memory");
    if (!is_resource || trigger["metricType"]) continue;
    if (const Value& misplaced = trigger["metadata"]["metricType"]) {
      s.report_key(misplaced, fmt::format("KEDA reads metricType beside the metadata of a {} trigger and not in it, so "
                                          "the trigger has no valid metric type",
                                          trigger["type"].text));
    }
    const Value& type = trigger["metadata"]["type"];
    if (!type) continue;
    s.report_key(type, fmt::format("KEDA {} and later do not read metadata.type of a {} trigger, so the trigger has no "
                                   "valid metric type",
                                   since_version("keda-metadata-type-removed"), trigger["type"].text));
  }
}

}  // namespace
}  // namespace keda_metadata_type_removed

extern const Rule rule_keda_metadata_type_removed;
const Rule rule_keda_metadata_type_removed = {
    .id = "keda-metadata-type-removed",
    .severity = Severity::error,
    .kinds = "ScaledObject ScaledJob",
    .title = "a cpu or memory trigger has its metric type in the metadata, where KEDA no longer reads it",
    .why =
        "KEDA 2.18 removed the field. Without metricType the trigger is invalid or means an absolute value, so the "
        "workload does not scale by utilization.",
    .fix = "move the value to the trigger's metricType",
    .source = "kedacore/keda #6229",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers: [{type: cpu, metadata: {type: Utilization, value: "60"}}]
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers: [{type: cpu, metricType: Utilization, metadata: {value: "60"}}]
)",
    .check = keda_metadata_type_removed::check,
};

}  // namespace capstan::lint
