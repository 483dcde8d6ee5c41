#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace wva_deprecated {
namespace {

void check(const Subject& s) {
  if (s.object.group == "llmd.ai") s.report(s.object["kind"], "VariantAutoscaling has ended with its version 0.9");
  for (const ScalingSignal& signal : signals_of(s.object)) {
    if (signal.metric->text.find("wva_") == std::string_view::npos) continue;
    s.report(*signal.metric, "a metric of the Workload Variant Autoscaler, which has ended with its version 0.9");
  }
}

}  // namespace
}  // namespace wva_deprecated

extern const Rule rule_wva_deprecated;
const Rule rule_wva_deprecated = {
    .id = "wva-deprecated",
    .severity = Severity::warning,
    .kinds = "VariantAutoscaling HorizontalPodAutoscaler ScaledObject",
    .title = "the Workload Variant Autoscaler has ended",
    .why = "Its version 0.9 is the last; it only published a number for an HPA, and nobody mends it any more.",
    .fix = "KEDA or an HPA on the metrics of the inference gateway (llm_d_epp_*)",
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
