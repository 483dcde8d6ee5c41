#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace wva_deprecated {
namespace {

void check(const Subject& s) {
  if (s.object.group == "llmd.ai")
    s.report(s.object["kind"], "VariantAutoscaling is no longer maintained after version 0.9");
  for (const ScalingSignal& signal : signals_of(s.object)) {
    if (signal.metric->text.find("wva_") == std::string_view::npos) continue;
    s.report(*signal.metric,
             "this metric comes from the Workload Variant Autoscaler, which is no longer maintained after version 0.9");
  }
}

}  // namespace
}  // namespace wva_deprecated

extern const Rule rule_wva_deprecated;
const Rule rule_wva_deprecated = {
    .id = "wva-deprecated",
    .severity = Severity::warning,
    .kinds = "VariantAutoscaling HorizontalPodAutoscaler ScaledObject",
    .title = "the Workload Variant Autoscaler is no longer maintained",
    .why = "Version 0.9 is the last. It only published a number for an HPA, and it gets no more fixes.",
    .fix = "use KEDA or an HPA with metrics of the inference gateway (llm_d_epp_*)",
    .source = "llm-d guides, workload autoscaling",
    .bad = R"(apiVersion: llmd.ai/v1alpha1
kind: VariantAutoscaling
metadata: {name: llama}
spec: {modelID: llama}
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: llama}
spec: {scaleTargetRef: {name: llama}, minReplicaCount: 1, maxReplicaCount: 4}
)",
    .check = wva_deprecated::check,
};

}  // namespace capstan::lint
