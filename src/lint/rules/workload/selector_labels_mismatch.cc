#include <fmt/format.h>

#include <algorithm>

#include "lint/rule.h"
#include "lint/selector.h"

namespace capstan::lint {
namespace selector_labels_mismatch {
namespace {

/// Returns true if the labels meet an expression of a selector, or if the operator is unknown.
bool meets(const Value& expression, const Value& labels) {
  const Value& label = labels[expression["key"].text];
  const auto is_listed = [&] {
    return std::ranges::any_of(expression["values"].children(), [&](const Value& value) {
      return label.is(value.text) || is_template_variable(value.text) || is_template_variable(label.text);
    });
  };
  const Value& op = expression["operator"];
  if (op.is("In")) return label && is_listed();
  if (op.is("Exists")) return static_cast<bool>(label);
  if (op.is("DoesNotExist")) return !label;
  if (op.is("NotIn") && !is_template_variable(label.text)) return !label || !is_listed();
  return true;
}

/// Returns the first expression of a selector that the labels do not meet; null if there is none.
const Value* unmet_expression(const Value& selector, const Value& labels) {
  for (const Value& expression : selector["matchExpressions"].children()) {
    if (!meets(expression, labels)) return &expression;
  }
  return nullptr;
}

/// Adds that the API server refuses the object.
void report(const Subject& s, const Value& place, bool is_absent, std::string defect) {
  Finding& finding =
      s.report(place, fmt::format("{}, so the API server refuses the {}", std::move(defect), s.object.kind));
  if (is_absent) finding.mark_absence();
  if (s.object.file->is_patched(s.object.kind)) finding.set_severity(Severity::info);  // a patch may change the labels
}

void check(const Subject& s) {
  const Value& selector = s.object["spec"]["selector"];
  const Value& pod = s.object["spec"]["template"];
  const Value& labels = at(pod, "metadata.labels");
  if (!pod.is_mapping() || (labels && !labels.is_mapping())) return;  // a variable that is filled in later
  const LabelDifference difference = compare_labels(selector["matchLabels"], labels);
  if (const Value* wanted = difference.first) {
    const Value& label = labels[wanted->key];
    report(s, *wanted, !label,
           label ? fmt::format("the selector wants {}: {}, but the template has {}: {}", wanted->key, wanted->text,
                               wanted->key, label.text)
                 : fmt::format("the selector wants {}: {}, but the template has no label {}", wanted->key, wanted->text,
                               wanted->key));
  } else if (const Value* expression = unmet_expression(selector, labels)) {
    const std::string_view key = (*expression)["key"].text;
    report(s, (*expression)["key"], !labels[key],
           fmt::format("the labels of the template do not meet the selector's expression for {}", key));
  }
}

}  // namespace
}  // namespace selector_labels_mismatch

extern const Rule rule_selector_labels_mismatch;
const Rule rule_selector_labels_mismatch = {
    .id = "selector-labels-mismatch",
    .severity = Severity::error,
    .kinds = "Deployment StatefulSet DaemonSet ReplicaSet",
    .title = "the selector of a workload does not match the labels of its template",
    .why =
        "A controller finds its pods by the selector. The API server therefore refuses an object whose selector does "
        "not match its own pods: \"`selector` does not match template `labels`\". Nothing is deployed.",
    .fix =
        "give the template every label of the selector, with the same value; the selectors of Services and "
        "disruption budgets should match these labels, too",
    .source = "Kubernetes documentation, Deployments, selector",
    .bad = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: vllm}}
    spec: {containers: [{name: vllm, image: "vllm/vllm-openai:v0.20.0"}]}
)",
    .good = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat}}
    spec: {containers: [{name: vllm, image: "vllm/vllm-openai:v0.20.0"}]}
)",
    .check = selector_labels_mismatch::check,
};

}  // namespace capstan::lint
