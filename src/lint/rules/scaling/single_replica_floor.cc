#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace single_replica_floor {
namespace {

void check(const Subject& s) {
  const std::optional<Scaler> scaler = scaler_of(s.object);
  if (scaler->min->integer() != 1 || !scales_gpu(*scaler, s.set)) return;
  s.report(*scaler->min, "the minimum is one replica, so its loss is an outage for the time of a cold start");
}

}  // namespace
}  // namespace single_replica_floor

extern const Rule rule_single_replica_floor;
const Rule rule_single_replica_floor = {
    .id = "single-replica-floor",
    .severity = Severity::info,
    .kinds = "@scaler",
    .title = "a GPU service has a minimum of one replica",
    .why =
        "If its node is lost, no replica serves until another has started, which takes minutes. Two replicas in "
        "different zones avoid this.",
    .fix = "set the minimum to 2 for a service with an SLO",
    .source = "availability practice for models with long cold starts",
    .bad = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
spec:
  scaleTargetRef: {kind: Deployment, name: a}
  minReplicas: 1
  maxReplicas: 4
  metrics:
    - type: Pods
      pods: {metric: {name: vllm_num_requests_waiting}, target: {type: AverageValue, averageValue: "5"}}
)",
    .good = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
spec:
  scaleTargetRef: {kind: Deployment, name: a}
  minReplicas: 2
  maxReplicas: 4
  metrics:
    - type: Pods
      pods: {metric: {name: vllm_num_requests_waiting}, target: {type: AverageValue, averageValue: "5"}}
)",
    .check = single_replica_floor::check,
};

}  // namespace capstan::lint
