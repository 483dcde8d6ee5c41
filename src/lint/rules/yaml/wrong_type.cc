#include <fmt/format.h>

#include <algorithm>

#include "lint/rule.h"

namespace capstan::lint {
namespace wrong_type {
namespace {

enum class Wanted : std::uint8_t { mapping, list, whole_number };

struct Row {
  std::string_view kind;  ///< empty: any
  std::string_view path;
  Wanted wanted;
};

constexpr Row kRows[] = {
    {"", "metadata", Wanted::mapping},
    {"", "metadata.labels", Wanted::mapping},
    {"", "metadata.annotations", Wanted::mapping},
    {"", "spec", Wanted::mapping},
    {"", "spec.replicas", Wanted::whole_number},
    {"", "spec.scaleTargetRef", Wanted::mapping},
    {"Pod", "spec.containers", Wanted::list},
    {"Deployment", "spec.template.spec.containers", Wanted::list},
    {"StatefulSet", "spec.template.spec.containers", Wanted::list},
    {"Job", "spec.template.spec.containers", Wanted::list},
    {"ScaledObject", "spec.triggers", Wanted::list},
    {"ScaledObject", "spec.minReplicaCount", Wanted::whole_number},
    {"ScaledObject", "spec.maxReplicaCount", Wanted::whole_number},
    {"ScaledObject", "spec.idleReplicaCount", Wanted::whole_number},
    {"ScaledObject", "spec.cooldownPeriod", Wanted::whole_number},
    {"ScaledObject", "spec.pollingInterval", Wanted::whole_number},
    {"HorizontalPodAutoscaler", "spec.metrics", Wanted::list},
    {"HorizontalPodAutoscaler", "spec.minReplicas", Wanted::whole_number},
    {"HorizontalPodAutoscaler", "spec.maxReplicas", Wanted::whole_number},
    {"NodePool", "spec.limits", Wanted::mapping},
    {"NodePool", "spec.template.spec.requirements", Wanted::list},
    {"NodePool", "spec.template.spec.taints", Wanted::list},
};

/// Something is put in before anybody reads it: `${REPLICAS}`, `<count>`, REPLICAS.
bool is_hole(std::string_view text) {
  return text.find_first_of("$<{%") != text.npos ||
         std::ranges::none_of(text, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
}

bool fits(const Value& value, Wanted wanted) {
  if (value.form == manifest::Form::scalar && is_hole(value.text)) return true;
  switch (wanted) {
    case Wanted::mapping:
      return value.is_mapping();
    case Wanted::list:
      return value.is_sequence();
    case Wanted::whole_number:
      return value.style == manifest::Style::plain && value.integer().has_value();
  }
  return true;
}

std::string_view words_for(Wanted wanted) {
  return wanted == Wanted::mapping ? "a mapping" : wanted == Wanted::list ? "a list" : "a whole number without quotes";
}

std::string words_for(const Value& value) {
  return value.is_mapping() ? "a mapping" : value.is_sequence() ? "a list" : fmt::format("\"{:.40}\"", value.text);
}

void check(const Subject& s) {
  for (const Row& row : kRows) {
    const Value& value = row.kind.empty() || row.kind == s.object.kind ? at(s.object, row.path) : Value::missing();
    if (!value || fits(value, row.wanted)) continue;
    Finding& finding =
        s.report(value, fmt::format("{} is {}, expected {}", row.path, words_for(value), words_for(row.wanted)));
    if (row.wanted != Wanted::whole_number) continue;
    if (const auto number = value.integer()) finding.unquote(value, std::to_string(*number));
  }
}

}  // namespace
}  // namespace wrong_type

extern const Rule rule_wrong_type;
const Rule rule_wrong_type = {
    .id = "wrong-type",
    .severity = Severity::error,
    .kinds = "@pods @scaler @pool",
    .title = "a field holds another type than the API has",
    .why = "The API server refuses the object: a number in quotes is a text, and a list is no mapping.",
    .fix = "write the type that the message names: a number without quotes",
    .fix_safety = FixSafety::safe,
    .source = "the schemas of Kubernetes, KEDA and Karpenter",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: "1"
  maxReplicaCount: 4
  triggers: [{type: cpu, metricType: Utilization, metadata: {value: "70"}}]
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers: [{type: cpu, metricType: Utilization, metadata: {value: "70"}}]
)",
    .check = wrong_type::check,
};

}  // namespace capstan::lint
