#include <fmt/format.h>

#include <algorithm>

#include "lint/rule.h"
#include "manifest/fields.h"

namespace capstan::lint {
namespace keda_field_unknown {
namespace {

constexpr std::string_view kFields[] = {"scaleTargetRef",  "pollingInterval", "initialCooldownPeriod", "cooldownPeriod",
                                        "minReplicaCount", "maxReplicaCount", "idleReplicaCount",      "advanced",
                                        "triggers",        "fallback"};
/// What other autoscalers call the same.
constexpr std::pair<std::string_view, std::string_view> kElsewhere[] = {
    {"minReplicas", "minReplicaCount"},      {"maxReplicas", "maxReplicaCount"},
    {"minReplicasCount", "minReplicaCount"}, {"maxReplicasCount", "maxReplicaCount"},
    {"minCount", "minReplicaCount"},         {"maxCount", "maxReplicaCount"},
    {"cooldown", "cooldownPeriod"},          {"behavior", "advanced.horizontalPodAutoscalerConfig.behavior"}};

/// The field that was meant; empty where nothing is near: a later version of KEDA may have it.
std::string_view meant_by(std::string_view key) {
  if (std::ranges::find(kFields, key) != std::end(kFields)) return {};
  for (const auto& [other, field] : kElsewhere) {
    if (key == other) return field;
  }
  return manifest::did_you_mean(key, kFields);
}

void check(const Subject& s) {
  for (const Value& field : s.object["spec"].children()) {
    const std::string_view meant = meant_by(field.key);
    if (meant.empty()) continue;
    s.report_key(field, fmt::format("a ScaledObject has no {}: it is refused, or dropped without a word; did you mean "
                                    "{}?",
                                    field.key, meant));
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
        "kubectl refuses it where it validates strictly; what applies it otherwise loses it, and the default is in "
        "force: 0 to 100 replicas for bounds under an HPA's names.",
    .fix = "the name that KEDA gives it",
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
