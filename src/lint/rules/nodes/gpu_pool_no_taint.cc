#include <fmt/format.h>

#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace gpu_pool_no_taint {
namespace {

void check(const Subject& s) {
  const std::optional<Pool> pool = gpu_pool_of(s.object);
  if (!pool || !*pool->node || is_tainted(*pool) || s.object.name.empty()) return;
  Finding& finding =
      s.report_object(fmt::format("the nodes of GPU pool {} accept pods that need no GPU", s.object.name));
  finding.mark_absence();
  if (is_general_pool(*pool, s.set)) finding.set_severity(Severity::info);
}

}  // namespace
}  // namespace gpu_pool_no_taint

extern const Rule rule_gpu_pool_no_taint;
const Rule rule_gpu_pool_no_taint = {
    .id = "gpu-pool-no-taint",
    .severity = Severity::warning,
    .kinds = "@pool",
    .title = "the nodes of a GPU pool accept any pod",
    .why =
        "Agents, DNS and batch jobs fill the nodes. GPU pods then stay pending for CPU or memory, and a GPU node stays "
        "and costs money for a pod that needs no GPU. For a pool that seems to be the only one of its cluster the "
        "finding is advice, because the other pods need nodes too.",
    .fix = "add taints: [{key: nvidia.com/gpu, effect: NoSchedule}]",
    .source = "Kubernetes and Karpenter documentation, taints",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec: {limits: {nvidia.com/gpu: 8}, template: {spec: {requirements: []}}}
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {nvidia.com/gpu: 8}
  template: {spec: {requirements: [], taints: [{key: nvidia.com/gpu, effect: NoSchedule}]}}
)",
    .check = gpu_pool_no_taint::check,
};

}  // namespace capstan::lint
