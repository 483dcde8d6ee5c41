#include <fmt/format.h>

#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace scale_to_zero_no_warm_pool {
namespace {

void check(const Subject& s) {
  const std::optional<Scaler> scaler = scaler_of(s.object);
  if (scaler->min_replicas != 0 || !scales_gpu(*scaler, s.set)) return;
  for (const std::string_view accepted : {"capstan.dev/scale-to-zero-ok", "gpu-autoscaler/scale-to-zero-ok"}) {
    if (annotation(s.object, accepted)) return;
  }
  if (*scaler->min) {
    Finding& finding =
        s.report(*scaler->min,
                 fmt::format("with {} 0 the first request after a pause waits for a cold start", scaler->min->key));
    finding.replace(*scaler->min, "1");
  } else {
    s.report_key(s.object["spec"]["scaleTargetRef"], "without minReplicaCount this GPU workload scales to zero")
        .mark_absence();
  }
}

}  // namespace
}  // namespace scale_to_zero_no_warm_pool

extern const Rule rule_scale_to_zero_no_warm_pool;
const Rule rule_scale_to_zero_no_warm_pool = {
    .id = "scale-to-zero-no-warm-pool",
    .severity = Severity::info,
    .kinds = "@scaler",
    .title = "a GPU workload scales to zero",
    .why =
        "The first request after a pause waits for a node, an image, weights and the engine's start: 2 to 8 minutes. "
        "No interactive SLO allows this. The finding is advice, because a batch service or a queue may accept the "
        "wait.",
    .fix =
        "keep one replica with minReplicaCount 1; if a queue stores the requests, state this in the annotation "
        "capstan.dev/scale-to-zero-ok",
    .fix_safety = FixSafety::unsafe,
    .source = "vLLM production guides: never scale to zero without a warm standby",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: model}
  minReplicaCount: 0
  maxReplicaCount: 8
  triggers:
    - {type: prometheus, metadata: {query: 'sum(vllm:num_requests_waiting{namespace="a"})', threshold: "5"}}
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: model}
  minReplicaCount: 1
  maxReplicaCount: 8
  triggers:
    - {type: prometheus, metadata: {query: 'sum(vllm:num_requests_waiting{namespace="a"})', threshold: "5"}}
)",
    .check = scale_to_zero_no_warm_pool::check,
};

}  // namespace capstan::lint
