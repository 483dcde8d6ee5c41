#include <fmt/format.h>

#include <algorithm>

#include "lint/pods.h"
#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace fake_scaling_no_node_autoscaler {
namespace {

bool is_cluster_autoscaler(const Object& workload) {
  return std::ranges::any_of(pods_of(workload), [](const Pod& pod) {
    return std::ranges::any_of(all_containers_of(pod), [](const Value* container) {
      return (*container)["image"].text.find("cluster-autoscaler") != std::string_view::npos;
    });
  });
}

/// Returns true if the input has a node autoscaler.
bool has_node_autoscaler(const Subject& s) {
  for (const std::string_view kind : {"NodePool", "Provisioner"}) {
    if (!s.set.in_folder(kind, s.object).empty()) return true;
  }
  return std::ranges::any_of(s.set.in_folder("Deployment", s.object),
                             [](const Object* workload) { return is_cluster_autoscaler(*workload); });
}

void check(const Subject& s) {
  if (!s.set.is_complete()) return;
  const std::optional<Scaler> scaler = scaler_of(s.object);
  const Object* target = target_of(*scaler, s.set);
  const auto max = scaler->max->integer();
  if (target == nullptr || !max || *max <= scaler->min_replicas) return;
  const std::int64_t gpus = gpus_of_largest_pod(*target);
  if (gpus == 0 || has_node_autoscaler(s)) return;
  s.report(*scaler->max,
           fmt::format("the workload may have {} replicas of {} GPUs, but nothing in the input launches nodes for them",
                       *max, gpus));
}

}  // namespace
}  // namespace fake_scaling_no_node_autoscaler

extern const Rule rule_fake_scaling_no_node_autoscaler;
const Rule rule_fake_scaling_no_node_autoscaler = {
    .id = "fake-scaling-no-node-autoscaler",
    .severity = Severity::info,
    .kinds = "@scaler",
    .title = "the replicas scale but the nodes do not",
    .why =
        "Every replica beyond the existing GPUs stays pending. The autoscaler reports that it scaled, but no request "
        "is answered sooner. The existing GPUs cost the same at night.",
    .fix = "add a NodePool, or lower the maximum to what the nodes can run",
    .source = "Kubernetes documentation, node autoscaling",
    .bad = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: vllm}
spec: {scaleTargetRef: {kind: Deployment, name: vllm}, minReplicas: 2, maxReplicas: 20}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: vllm}
spec:
  selector: {matchLabels: {app: vllm}}
  template: {spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]}}
)",
    .good = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: vllm}
spec: {scaleTargetRef: {kind: Deployment, name: vllm}, minReplicas: 2, maxReplicas: 20}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: vllm}
spec:
  selector: {matchLabels: {app: vllm}}
  template: {spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]}}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec: {limits: {nvidia.com/gpu: 20}}
)",
    .check = fake_scaling_no_node_autoscaler::check,
};

}  // namespace capstan::lint
