#include <fmt/format.h>

#include "lint/pods.h"
#include "lint/query.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace gpu_metric_not_pod_aggregated {
namespace {

void check(const Subject& s) {
  const Object* target = target_of(*scaler_of(s.object), s.set);
  if (target == nullptr) return;
  const std::int64_t gpus = gpus_of_largest_pod(*target);
  if (gpus < 2) return;
  for_each_query(s.queries(), [&](const ScalingSignal&, const Query& query) {
    const promql::Expression& inner = without_guard(*query.root());
    const auto* outer = std::get_if<promql::Aggregation>(&inner.node);
    if (outer == nullptr || outer->op != promql::Aggregation::Op::avg || !outer->labels.empty()) return;
    const auto* selector = std::get_if<promql::Selector>(&outer->operand->node);
    if (selector == nullptr || !selector->metric.starts_with("DCGM_")) return;
    s.report_span(query.span_of(inner.span),
                  fmt::format("the mean is over all GPUs, {} per pod, and not over pods", gpus));
  });
}

}  // namespace
}  // namespace gpu_metric_not_pod_aggregated

extern const Rule rule_gpu_metric_not_pod_aggregated;
const Rule rule_gpu_metric_not_pod_aggregated = {
    .id = "gpu-metric-not-pod-aggregated",
    .severity = Severity::warning,
    .kinds = "ScaledObject",
    .title = "the mean over GPUs is compared with a target per pod",
    .why =
        "A pod with eight GPUs has eight series. The mean is over GPUs and not over pods, so one busy pod hardly "
        "changes it.",
    .fix = "use avg by (exported_pod) (...), then sum",
    .source = "NVIDIA dcgm-exporter labels",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: a}
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers: [{type: prometheus, metadata: {query: 'avg(DCGM_FI_PROF_PIPE_TENSOR_ACTIVE)', threshold: "0.5"}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {a: b}}
  template: {spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 8}}}]}}
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: a}
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers:
    - type: prometheus
      metadata: {query: 'sum(avg by (exported_pod) (DCGM_FI_PROF_PIPE_TENSOR_ACTIVE))', threshold: "0.5"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {a: b}}
  template: {spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 8}}}]}}
)",
    .check = gpu_metric_not_pod_aggregated::check,
};

}  // namespace capstan::lint
