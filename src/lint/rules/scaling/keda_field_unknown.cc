#include <fmt/format.h>

#include <algorithm>

#include "lint/rule.h"
#include "manifest/fields.h"

namespace capstan::lint {
namespace keda_field_unknown {
namespace {

constexpr std::string_view kKnownFields[] = {"scaleTargetRef",   "pollingInterval", "initialCooldownPeriod",
                                             "cooldownPeriod",   "minReplicaCount", "maxReplicaCount",
                                             "idleReplicaCount", "advanced",        "triggers",
                                             "fallback"};
/// Names of other autoscalers, with the field of KEDA that has the same meaning.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"minReplicas", "minReplicaCount"},      {"maxReplicas", "maxReplicaCount"},
    {"minReplicasCount", "minReplicaCount"}, {"maxReplicasCount", "maxReplicaCount"},
    {"minCount", "minReplicaCount"},         {"maxCount", "maxReplicaCount"},
    {"cooldown", "cooldownPeriod"},          {"behavior", "advanced.horizontalPodAutoscalerConfig.behavior"}};

/// Returns the field that was probably meant. Empty if the key is a field of KEDA. Also empty if no field is similar,
/// because a later version of KEDA may have the key.
std::string_view intended_field(std::string_view key) {
  if (std::ranges::find(kKnownFields, key) != std::end(kKnownFields)) return {};
  for (const auto& [other, field] : kOtherNames) {
    if (key == other) return field;
  }
  return manifest::did_you_mean(key, kKnownFields);
}

void check(const Subject& s) {
  for (const Value& field : s.object["spec"].children()) {
    const std::string_view intended = intended_field(field.key);
    if (intended.empty()) continue;
    s.report_key(field,
                 fmt::format("a ScaledObject has no field {}, so it is refused or silently dropped; did you mean "
                             "{}?",
                             field.key, intended));
  }
}

}  // namespace
}  // namespace keda_field_unknown

extern const Rule rule_keda_field_unknown;
const Rule rule_keda_field_unknown = {
    .id = "keda-field-unknown",
    .severity = Severity::error,
    .kinds = "ScaledObject",
    .title = "a ScaledObject has a field that KEDA does not know",
    .why =
        "kubectl refuses the field if it validates strictly. Other clients drop it, and the default applies: 0 to 100 "
        "replicas if the limits have the names of an HPA.",
    .fix = "use KEDA's name for the field",
    .source = "KEDA documentation, ScaledObject specification",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: vllm}
  minReplicas: 1
  maxReplicas: 8
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
  triggers:
    - type: prometheus
      metadata: {query: 'sum(vllm:num_requests_waiting{namespace="a"})', threshold: "5"}
)",
    .check = keda_field_unknown::check,
};

}  // namespace capstan::lint
