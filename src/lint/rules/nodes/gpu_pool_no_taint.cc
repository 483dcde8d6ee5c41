#include <fmt/format.h>

#include <algorithm>

#include "lint/facts.h"
#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace gpu_pool_no_taint {
namespace {

/// Returns true if the input shows that other pods have nodes of their own: it has a pool without GPUs.
bool has_other_pool(const Subject& s) {
  for (const std::string_view kind : {"NodePool", "Provisioner"}) {
    const auto pools = s.set.in_closest_folder(kind, s.object);
    if (std::ranges::any_of(pools, [](const Object* object) { return !gpu_pool_of(*object); })) return true;
  }
  return false;
}

/// Returns true if the name of the pool says that its nodes are for GPUs: "gpu", "nvidia", "cuda" or the name of a GPU.
bool names_gpu(std::string_view name) {
  const auto is_part = [&](std::string_view word) { return name.find(word) != name.npos; };
  return is_part("gpu") || is_part("nvidia") || is_part("cuda") ||
         std::ranges::any_of(gpu_families(), [&](const GpuFamily& family) { return is_part(family.gpu); });
}

void check(const Subject& s) {
  const std::optional<Pool> pool = gpu_pool_of(s.object);
  if (!pool || !*pool->node || is_tainted(*pool) || s.object.name.empty()) return;
  Finding& finding =
      s.report_object(fmt::format("the nodes of GPU pool {} accept pods that need no GPU", s.object.name));
  finding.mark_absence();
  const bool is_for_gpus = has_other_pool(s) || names_gpu(s.object.name);
  if (!launches_only_gpus(*pool) || !is_for_gpus) finding.set_severity(Severity::info);
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
        "and costs money for a pod that needs no GPU. The finding is a warning if the pool launches only GPU nodes and "
        "its name or another pool shows that other pods have other nodes. Otherwise it is advice.",
    .fix = "add taints: [{key: nvidia.com/gpu, effect: NoSchedule}]",
    .source = "Kubernetes and Karpenter documentation, taints",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {nvidia.com/gpu: 8}
  template: {spec: {requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [g6e]}]}}
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {nvidia.com/gpu: 8}
  template:
    spec:
      requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [g6e]}]
      taints: [{key: nvidia.com/gpu, effect: NoSchedule}]
)",
    .check = gpu_pool_no_taint::check,
};

}  // namespace capstan::lint
