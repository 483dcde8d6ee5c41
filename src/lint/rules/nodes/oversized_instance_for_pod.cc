#include <fmt/format.h>

#include <algorithm>

#include "lint/pods.h"
#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace oversized_instance_for_pod {
namespace {

/// The most GPUs that one pod of the folder wants; 0 where none wants any.
std::int64_t largest_pod(const Subject& s) {
  std::int64_t most = 0;
  for (const std::string_view kind : {"Deployment", "StatefulSet"}) {
    for (const Object* workload : s.set.beside(kind, s.object)) {
      most = std::max(most, gpus_of_largest_pod(*workload));
    }
  }
  return most;
}

void check(const Subject& s) {
  const std::optional<Pool> pool = gpu_pool_of(s.object);
  const std::int64_t most = pool ? largest_pod(s) : 0;
  if (most == 0) return;
  for (const std::string_view key : {"instance-family", "instance-type"}) {
    const Value& entry = requirement(*pool, key);
    if (!entry["operator"].is("In")) continue;
    for (const Value& value : entry["values"].children()) {
      const GpuFamily* family = gpu_family(value.text);
      if (family == nullptr) continue;
      const std::int64_t gpus =
          value.text.find('.') == value.text.npos ? family->least_gpus : gpus_of_instance(value.text).value_or(0);
      if (gpus <= most) continue;
      s.report(value, fmt::format("{} has {} GPUs, and the pods beside it want {} at most", value.text, gpus, most));
      return;
    }
  }
}

}  // namespace
}  // namespace oversized_instance_for_pod

extern const Rule rule_oversized_instance_for_pod;
const Rule rule_oversized_instance_for_pod = {
    .id = "oversized-instance-for-pod",
    .severity = Severity::warning,
    .kinds = "NodePool",
    .title = "nodes of eight GPUs for pods of fewer",
    .why = "The first pod buys all eight; what the others do not use is paid for.",
    .fix = "instance types with as many GPUs as a pod wants: g6e, g5, p5.4xlarge",
    .source = "instance types of the clouds",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {nvidia.com/gpu: 64}
  template: {spec: {requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [p4d]}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {a: b}}
  template: {spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]}}
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {nvidia.com/gpu: 64}
  template: {spec: {requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [g6e]}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {a: b}}
  template: {spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]}}
)",
    .check = oversized_instance_for_pod::check,
};

}  // namespace capstan::lint
