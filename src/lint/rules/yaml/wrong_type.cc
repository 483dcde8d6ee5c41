#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lint/kubernetes_types.h"
#include "lint/pods.h"
#include "lint/rule.h"
#include "lint/value_path.h"

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

bool has_type(const Value& value, Type type) {
  if (value.form == manifest::Form::scalar && is_variable(value.text)) return true;
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

void check_fields(const Subject& s) {
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

/// Returns true if a tag such as !!str precedes the value. It may make a text of a number.
bool has_tag(const Subject& s, const Value& value) {
  if (value.shared) return false;
  std::string_view before = s.object.file->parsed().substr(0, value.span.begin);
  before.remove_prefix(std::min(before.find_last_of("\n,[{:-") + 1, before.size()));
  return before.find_first_of("!>") != before.npos;
}

/// Reports a number or a boolean without quotes where the API has a text.
void report_text(const Subject& s, const Value& value, std::string_view path) {
  if (!is_number_or_boolean(value) || has_tag(s, value)) return;
  s.report(value, fmt::format("{} is {} without quotes, expected a text: write \"{}\"", path, value.text, value.text))
      .quote(value);
}

/// Fields that are texts in kinds whose other fields are not in the table of Kubernetes' types.
constexpr std::pair<std::string_view, std::string_view> kTexts[] = {
    {"ScaledObject", "spec.triggers[].metadata.*"},
    {"ScaledJob", "spec.triggers[].metadata.*"},
    {"NodePool", "spec.template.metadata.labels.*"},
    {"NodePool", "spec.template.metadata.annotations.*"},
    {"NodePool", "spec.template.spec.requirements[].values[]"},
    {"NodePool", "spec.template.spec.taints[].value"},
    {"NodePool", "spec.template.spec.startupTaints[].value"}};

/// Returns the path of a value in a message: "spec.triggers[].metadata.threshold".
std::string path_of(std::string_view path, const Value& value) {
  return path.ends_with('*') ? std::string(path.substr(0, path.size() - 1)) + std::string(value.key)
                             : std::string(path);
}

void check_texts_at(const Subject& s, const Value& root, std::string_view path, std::string_view shown) {
  for_each_at(root, path, [&](const Value& value) { report_text(s, value, path_of(shown, value)); });
}

/// Checks the texts of pods in any kind whose pods are known. Other fields may differ from those of Kubernetes' pods.
void check_pods(const Subject& s) {
  for (const Pod& pod : pods_of(s.object)) {
    for (const std::string_view path : {"labels.*", "annotations.*"}) {
      check_texts_at(s, *pod.metadata, path, fmt::format("metadata.{}", path));
    }
    check_texts_at(s, *pod.spec, "nodeSelector.*", "nodeSelector.*");
    for (const Value* container : all_containers_of(pod)) {
      for (const std::string_view path : {"env[].value", "command[]", "args[]"}) {
        check_texts_at(s, *container, path, path);
      }
    }
  }
}

void check_texts(const Subject& s) {
  for (const std::string_view path : {"metadata.labels.*", "metadata.annotations.*"}) {
    check_texts_at(s, *s.object.root, path, path);
  }
  for (const auto& [kind, path] : kTexts) {
    if (kind == s.object.kind) check_texts_at(s, *s.object.root, path, path);
  }
  if (!s.object.has_unlisted_pods) check_pods(s);
}

/// Returns the found and the expected type: "is a list, expected a mapping". For a scalar, its text in quotes is the
/// found type: `is "x", expected a whole number`.
std::string describe(const TypeFault& fault) {
  const bool is_quoted = fault.value->style != manifest::Style::plain;
  switch (fault.kind) {
    case TypeFault::Kind::not_text:
      return fmt::format("is {}, expected a text", describe(*fault.value));
    case TypeFault::Kind::not_integer:
      return fmt::format("is {}, expected a whole number{}", describe(*fault.value),
                         is_quoted ? " without quotes" : "");
    case TypeFault::Kind::not_boolean:
      return fmt::format("is {}, expected true or false{}", describe(*fault.value), is_quoted ? " without quotes" : "");
    case TypeFault::Kind::not_mapping:
      return fmt::format("is {}, expected a mapping", describe(*fault.value));
    case TypeFault::Kind::not_list:
      return fmt::format("is {}, expected a list", describe(*fault.value));
    case TypeFault::Kind::unknown_field:
      break;
  }
  return {};
}

/// Compares the object with the types of Kubernetes' own kinds.
void check_types(const Subject& s) {
  for (const TypeFault& fault : s.type_faults()) {
    const Value& value = *fault.value;
    if (fault.kind == TypeFault::Kind::unknown_field) continue;
    if (fault.kind == TypeFault::Kind::not_text && value.form == manifest::Form::scalar) {
      report_text(s, value, fault.path);
      continue;
    }
    Finding& finding = s.report(value, fmt::format("{} {}", fault.path, describe(fault)));
    const auto number = value.integer();
    const bool is_boolean = value.is("true") || value.is("false");
    if (fault.kind == TypeFault::Kind::not_integer && number) finding.unquote(value, std::to_string(*number));
    if (fault.kind == TypeFault::Kind::not_boolean && is_boolean) finding.unquote(value, std::string(value.text));
  }
}

void check(const Subject& s) {
  check_fields(s);
  check_types(s);
  check_texts(s);
}

}  // namespace
}  // namespace wrong_type

extern const Rule rule_wrong_type;
const Rule rule_wrong_type = {
    .id = "wrong-type",
    .severity = Severity::error,
    .kinds = "@pods @scaler @pool ScaledJob PodDisruptionBudget ConfigMap Service",
    .title = "a field has a different type than in the API",
    .why =
        "The API server refuses the object: a number in quotes is a text, a number without quotes is no text, and "
        "a list is not a mapping. Labels, annotations, variables of the environment, arguments and the metadata of "
        "KEDA's triggers are texts.",
    .fix = "write the type that the message names: numbers without quotes, texts that look like numbers with quotes",
    .fix_safety = FixSafety::safe,
    .source = "the schemas of Kubernetes, KEDA and Karpenter",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: "1"
  maxReplicaCount: 4
  triggers: [{type: cpu, metricType: Utilization, metadata: {value: 70}}]
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
