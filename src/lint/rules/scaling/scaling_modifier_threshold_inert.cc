#include <fmt/format.h>

#include "lint/rule.h"

namespace capstan::lint {
namespace scaling_modifier_threshold_inert {
namespace {

void check(const Subject& s) {
  const Value& modifiers = at(s.object, "spec.advanced.scalingModifiers");
  if (!modifiers["formula"]) return;
  for (const Value& trigger : at(s.object, "spec.triggers").children()) {
    const Value& threshold = trigger["metadata"]["threshold"];
    if (!threshold || threshold.is(modifiers["target"].text)) continue;
    s.report(threshold, fmt::format("threshold {} is ignored, because the target of the formula is {}", threshold.text,
                                    modifiers["target"].text));
  }
}

}  // namespace
}  // namespace scaling_modifier_threshold_inert

extern const Rule rule_scaling_modifier_threshold_inert;
const Rule rule_scaling_modifier_threshold_inert = {
    .id = "scaling-modifier-threshold-inert",
    .severity = Severity::info,
    .kinds = "ScaledObject",
    .title = "the thresholds of triggers have no effect if there is a formula",
    .why =
        "A formula uses the raw values of the triggers. Their thresholds are ignored, and only scalingModifiers.target "
        "has an effect.",
    .fix = "move the thresholds to the formula and its target",
    .source = "KEDA documentation, scaling modifiers",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: vllm}
  minReplicaCount: 1
  maxReplicaCount: 4
  advanced: {scalingModifiers: {formula: "q / 2", target: "5"}}
  triggers: [{type: prometheus, name: q, metadata: {query: 'sum(a)', threshold: "9"}}]
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: vllm}
  minReplicaCount: 1
  maxReplicaCount: 4
  advanced: {scalingModifiers: {formula: "q / 2", target: "5"}}
  triggers: [{type: prometheus, name: q, metadata: {query: 'sum(a)', threshold: "5"}}]
)",
    .check = scaling_modifier_threshold_inert::check,
};

}  // namespace capstan::lint
