#include <fmt/format.h>

#include "lint/adapter.h"
#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace pods_metric_not_on_target_pods {
namespace {

/// Returns true if the name of the scaled workload shows a gateway, a frontend or an exporter. Its own pods may expose
/// the metrics that this rule checks.
bool names_gateway(std::string_view target) {
  return target.find("epp") != target.npos || target.find("frontend") != target.npos ||
         target.find("exporter") != target.npos;
}

void check(const Subject& s) {
  for (const ScalingSignal& signal : signals_of(s.object)) {
    if (signal.source != SignalSource::pods) continue;
    for (const std::string_view prefix : {"DCGM_", "dcgm_", "kube_", "node_", "llm_d_epp_", "dynamo_frontend_"}) {
      if (!signal.metric->text.starts_with(prefix)) continue;
      if (is_served_by_adapter(s.set, s.object, signal.metric->text)) continue;
      if (names_gateway(scaler_of(s.object)->target_name->text)) continue;
      Finding& finding =
          s.report(*signal.metric, fmt::format("the pods of {} do not expose {}; another pod does",
                                               scaler_of(s.object)->target_name->text, signal.metric->text));
      // These metrics name a pod in a label, and a rule of an adapter may assign them to that pod.
      if (prefix == "DCGM_" || prefix == "dcgm_" || prefix == "kube_") finding.set_severity(Severity::info);
    }
  }
}

}  // namespace
}  // namespace pods_metric_not_on_target_pods

extern const Rule rule_pods_metric_not_on_target_pods;
const Rule rule_pods_metric_not_on_target_pods = {
    .id = "pods-metric-not-on-target-pods",
    .severity = Severity::warning,
    .kinds = "HorizontalPodAutoscaler",
    .title = "a metric of type Pods does not come from the pods that are scaled",
    .why =
        "An exporter or a gateway exposes the metric, and Prometheus labels it with the pod of the exporter or "
        "gateway. The target's pods then have no metric, and the HPA reports \"no metrics returned\". If the metric "
        "names a pod in a label (DCGM's exported_pod), a rule of the adapter can assign it to that pod. The finding "
        "is then advice, and there is no finding if such a rule is in the same folder.",
    .fix = "use type External or Object, or a metric of the engine",
    .source = "NVIDIA/dcgm-exporter issues 42, 151, 307",
    .bad = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
spec:
  scaleTargetRef: {kind: Deployment, name: a}
  minReplicas: 2
  maxReplicas: 4
  metrics:
    - type: Pods
      pods: {metric: {name: llm_d_epp_request_running}, target: {type: AverageValue, averageValue: "5"}}
)",
    .good = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
spec:
  scaleTargetRef: {kind: Deployment, name: a}
  minReplicas: 2
  maxReplicas: 4
  metrics:
    - type: External
      external: {metric: {name: vllm_num_requests_waiting}, target: {type: AverageValue, averageValue: "5"}}
)",
    .check = pods_metric_not_on_target_pods::check,
};

}  // namespace capstan::lint
