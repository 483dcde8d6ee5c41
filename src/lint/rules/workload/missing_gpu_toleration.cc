#include "lint/pods.h"
#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace missing_gpu_toleration {
namespace {

bool tainted_pool(const Subject& s) {
  for (const Object* object : s.set.beside("NodePool", s.object)) {
    const std::optional<Pool> pool = gpu_pool_of(*object);
    if (pool && is_tainted(*pool)) return true;
  }
  return false;
}

void check(const Subject& s) {
  for (const auto& [pod, container] : gpu_pods_of(s.object)) {
    const bool injected = (*pod.spec)["nodeSelector"]["cloud.google.com/gke-accelerator"].is_scalar();
    if ((*pod.spec)["tolerations"] || injected || is_partial(s.object)) continue;
    const bool pool = tainted_pool(s);
    Finding& finding =
        s.report(container["name"], pool ? "the GPU pool beside it is tainted, and the pod tolerates nothing"
                                         : "asks for a GPU and tolerates no taint");
    if (pool) finding.as(Severity::warning);
  }
}

}  // namespace
}  // namespace missing_gpu_toleration

extern const Rule rule_missing_gpu_toleration;
const Rule rule_missing_gpu_toleration = {
    .id = "missing-gpu-toleration",
    .severity = Severity::info,
    .kinds = "@gpu",
    .title = "a GPU pod does not tolerate the taint of GPU nodes",
    .why = "GPU nodes are mostly tainted; the pod stays pending, and a node that is bought for it does not help.",
    .fix = "tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]",
    .source = "Kubernetes documentation, taints; GKE adds it by itself",
    .bad = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]}
)",
    .good = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  tolerations: [{operator: Exists}]
  containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]
)",
    .check = missing_gpu_toleration::check,
};

}  // namespace capstan::lint
