#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace keda_max_default_100 {
namespace {

void check(const Subject& s) {
  const Value& spec = s.object["spec"];
  if (!spec["scaleTargetRef"] || spec["maxReplicaCount"] || !scales_gpu(*scaler_of(s.object), s.set)) return;
  s.report_key(spec["scaleTargetRef"], "without maxReplicaCount this GPU workload may grow to 100 replicas")
      .mark_absence();
}

}  // namespace
}  // namespace keda_max_default_100

extern const Rule rule_keda_max_default_100;
const Rule rule_keda_max_default_100 = {
    .id = "keda-max-default-100",
    .severity = Severity::warning,
    .kinds = "ScaledObject",
    .title = "the ScaledObject of a GPU workload has no maxReplicaCount, so the maximum is 100",
    .why =
        "A broken metric or a burst asks for a hundred replicas, and a node autoscaler launches the GPU nodes for "
        "them.",
    .fix = "set maxReplicaCount to what the budget and the quota allow",
    .source = "KEDA types: maxReplicaCount defaults to 100",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: vllm}
spec:
  scaleTargetRef: {name: vllm}
  minReplicaCount: 1
  triggers:
    - {type: prometheus, metadata: {query: 'sum(vllm:num_requests_waiting{namespace="a"})', threshold: "5"}}
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: vllm}
spec:
  scaleTargetRef: {name: vllm}
  minReplicaCount: 1
  maxReplicaCount: 8
  triggers:
    - {type: prometheus, metadata: {query: 'sum(vllm:num_requests_waiting{namespace="a"})', threshold: "5"}}
)",
    .check = keda_max_default_100::check,
};

}  // namespace capstan::lint
