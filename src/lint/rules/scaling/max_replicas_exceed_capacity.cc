#include <fmt/format.h>

#include "lint/pods.h"
#include "lint/pools.h"
#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace max_replicas_exceed_capacity {
namespace {

/// The GPUs that the pools of the folder may launch.
struct Capacity {
  std::int64_t gpus = 0;
  const Object* pool = nullptr;  ///< one of the pools
};

/// Returns the GPUs that all GPU pools of the folder may launch together; none if one of them has no limit, or if there
/// is none.
std::optional<Capacity> gpu_capacity(const Subject& s) {
  Capacity sum;
  for (const Object* object : s.set.in_folder("NodePool", s.object)) {
    const std::optional<Pool> pool = gpu_pool_of(*object);
    if (!pool) continue;
    const auto limit = (*pool->limits)["nvidia.com/gpu"].integer();
    if (!limit) return std::nullopt;
    sum.gpus += *limit;
    sum.pool = object;
  }
  return sum.gpus == 0 ? std::nullopt : std::optional(sum);
}

void check(const Subject& s) {
  const std::optional<Scaler> scaler = scaler_of(s.object);
  const auto max = scaler->max->integer();
  const Object* target = target_of(*scaler, s.set);
  if (!max || target == nullptr) return;
  std::int64_t gpus = 0;
  for (const Pod& pod : pods_of(*target)) gpus += gpus_of(pod);
  const std::optional<Capacity> limit = gpu_capacity(s);
  if (gpus == 0 || !limit || *max * gpus <= limit->gpus) return;
  Finding& finding =
      s.report(*scaler->max, fmt::format("{} replicas of {} GPUs need {}, but the pools may launch only {}", *max, gpus,
                                         *max * gpus, limit->gpus));
  s.require_object(finding, *limit->pool);
  // The author may want the limit of the pools to bound the autoscaler. But the minimum replicas are always needed.
  if (scaler->min_replicas * gpus <= limit->gpus) finding.set_severity(Severity::info);
}

}  // namespace
}  // namespace max_replicas_exceed_capacity

extern const Rule rule_max_replicas_exceed_capacity;
const Rule rule_max_replicas_exceed_capacity = {
    .id = "max-replicas-exceed-capacity",
    .severity = Severity::warning,
    .kinds = "HorizontalPodAutoscaler ScaledObject",
    .title = "the pools may not launch the GPUs of all replicas",
    .why =
        "Replicas above the limit stay pending. The autoscaler reports that it scaled, but these replicas serve no "
        "requests. The finding is a warning if even the minimum exceeds the limit. Otherwise it is advice, because the "
        "limit "
        "may be meant as a bound.",
    .fix = "lower the maximum, or raise the pool's limit",
    .source = "Karpenter limits",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: vllm}
spec: {scaleTargetRef: {name: vllm}, minReplicaCount: 1, maxReplicaCount: 20}
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
spec: {limits: {nvidia.com/gpu: 8}}
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: vllm}
spec: {scaleTargetRef: {name: vllm}, minReplicaCount: 1, maxReplicaCount: 8}
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
spec: {limits: {nvidia.com/gpu: 8}}
)",
    .check = max_replicas_exceed_capacity::check,
};

}  // namespace capstan::lint
