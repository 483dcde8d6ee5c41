#include <fmt/format.h>

#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace gpu_pool_no_gpu_limit {
namespace {

void check(const Subject& s) {
  const std::optional<Pool> pool = gpu_pool_of(s.object);
  if (!pool || s.object.name.empty() || (*pool->spec)["replicas"]) return;
  for (const Value& limit : pool->limits->children()) {
    if (limit.key == "nodes" || limit.key.find("gpu") != limit.key.npos ||
        limit.key.find("accelerator") != limit.key.npos)
      return;
  }
  if (*pool->limits) {
    s.report_key(*pool->limits, fmt::format("the limits of GPU pool {} do not limit its GPUs", s.object.name))
        .mark_absence();
  } else {
    s.report_object(fmt::format("GPU pool {} has no limits", s.object.name)).mark_absence();
  }
}

}  // namespace
}  // namespace gpu_pool_no_gpu_limit

extern const Rule rule_gpu_pool_no_gpu_limit;
const Rule rule_gpu_pool_no_gpu_limit = {
    .id = "gpu-pool-no-gpu-limit",
    .severity = Severity::warning,
    .kinds = "@pool",
    .title = "a pool has no limit on its GPUs",
    .why =
        "With a CPU limit only, a faulty autoscaler can launch GPU nodes until the quota is used up. A well-known bill "
        "was 15,000 dollars for a weekend.",
    .fix = "add limits: {nvidia.com/gpu: N}",
    .source = "Karpenter documentation, limits",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {cpu: 2000}
  template: {spec: {requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [g6e]}]}}
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {cpu: 2000, nvidia.com/gpu: 16}
  template: {spec: {requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [g6e]}]}}
)",
    .check = gpu_pool_no_gpu_limit::check,
};

}  // namespace capstan::lint
