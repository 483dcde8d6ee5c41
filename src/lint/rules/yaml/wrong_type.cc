#include <fmt/format.h>

#include <algorithm>

#include "lint/rule.h"

namespace capstan::lint {
namespace wrong_type {
namespace {

enum class Type : std::uint8_t { mapping, list, whole_number };

struct Row {
  std::string_view kind;  ///< kind of the objects; empty for any kind
  std::string_view path;
  Type type;
};

constexpr Row kRows[] = {
    {"", "metadata", Type::mapping},
    {"", "metadata.labels", Type::mapping},
    {"", "metadata.annotations", Type::mapping},
    {"", "spec", Type::mapping},
    {"", "spec.replicas", Type::whole_number},
    {"", "spec.scaleTargetRef", Type::mapping},
    {"Pod", "spec.containers", Type::list},
    {"Deployment", "spec.template.spec.containers", Type::list},
    {"StatefulSet", "spec.template.spec.containers", Type::list},
    {"Job", "spec.template.spec.containers", Type::list},
    {"ScaledObject", "spec.triggers", Type::list},
    {"ScaledObject", "spec.minReplicaCount", Type::whole_number},
    {"ScaledObject", "spec.maxReplicaCount", Type::whole_number},
    {"ScaledObject", "spec.idleReplicaCount", Type::whole_number},
    {"ScaledObject", "spec.cooldownPeriod", Type::whole_number},
    {"ScaledObject", "spec.pollingInterval", Type::whole_number},
    {"HorizontalPodAutoscaler", "spec.metrics", Type::list},
    {"HorizontalPodAutoscaler", "spec.minReplicas", Type::whole_number},
    {"HorizontalPodAutoscaler", "spec.maxReplicas", Type::whole_number},
    {"NodePool", "spec.limits", Type::mapping},
    {"NodePool", "spec.template.spec.requirements", Type::list},
    {"NodePool", "spec.template.spec.taints", Type::list},
};

/// Returns true for a variable that is filled in later: `${REPLICAS}`, `<count>`, REPLICAS.
bool is_template_variable(std::string_view text) {
  return text.find_first_of("$<{%") != text.npos ||
         std::ranges::none_of(text, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
}

bool has_type(const Value& value, Type type) {
  if (value.form == manifest::Form::scalar && is_template_variable(value.text)) return true;
  switch (type) {
    case Type::mapping:
      return value.is_mapping();
    case Type::list:
      return value.is_sequence();
    case Type::whole_number:
      return value.style == manifest::Style::plain && value.integer().has_value();
  }
  return true;
}

std::string_view describe(Type type) {
  return type == Type::mapping ? "a mapping" : type == Type::list ? "a list" : "a whole number without quotes";
}

std::string describe(const Value& value) {
  return value.is_mapping() ? "a mapping" : value.is_sequence() ? "a list" : fmt::format("\"{:.40}\"", value.text);
}

void check(const Subject& s) {
  for (const Row& row : kRows) {
    const Value& value = row.kind.empty() || row.kind == s.object.kind ? at(s.object, row.path) : Value::missing();
    if (!value || has_type(value, row.type)) continue;
    if (row.kind.empty() && s.object.has_unlisted_pods) continue;  // another API may give the field another type
    Finding& finding =
        s.report(value, fmt::format("{} is {}, expected {}", row.path, describe(value), describe(row.type)));
    if (row.type != Type::whole_number) continue;
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
    .title = "a field has a different type than in the API",
    .why = "The API server refuses the object: a number in quotes is a text, and a list is not a mapping.",
    .fix = "write the type that the message names; numbers without quotes",
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
