#include <fmt/format.h>

#include <algorithm>

#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace pool_label_hw_lie {
namespace {

/// The GPU that a label speaks of: "nvidia-l40s" of l40s, and not of l4.
std::string_view gpu_in(std::string_view text) {
  std::string_view best;
  for (const GpuFamily& family : gpu_families()) {
    const std::size_t at = text.find(family.gpu);
    if (at == text.npos || family.gpu.size() <= best.size()) continue;
    const bool begins = at == 0 || text[at - 1] == '-' || text[at - 1] == '_';
    const std::size_t end = at + family.gpu.size();
    if (begins && (end == text.size() || text[end] == '-' || text[end] == '_')) best = family.gpu;
  }
  return best;
}

void check(const Subject& s) {
  const std::optional<Pool> pool = gpu_pool_of(s.object);
  if (!pool) return;
  const std::vector<const GpuFamily*> families = families_of(*pool);
  for (const Value& claim : (*pool->metadata)["labels"].children()) {
    const std::string_view gpu = gpu_in(claim.text);
    if (gpu.empty()) continue;
    const auto other = std::ranges::find_if(families, [&](const GpuFamily* family) { return family->gpu != gpu; });
    if (other == families.end()) continue;
    Finding& finding = s.report(claim, fmt::format("labels its nodes {}, and may buy {} with a {}", claim.text,
                                                   (*other)->family, (*other)->gpu));
    if (is_narrowed(*pool)) finding.as(Severity::warning);
  }
}

}  // namespace
}  // namespace pool_label_hw_lie

extern const Rule rule_pool_label_hw_lie;
const Rule rule_pool_label_hw_lie = {
    .id = "pool-label-hw-lie",
    .severity = Severity::error,
    .kinds = "NodePool",
    .title = "nodes get a label of a GPU that they may not have",
    .why =
        "Pods that select it land on another GPU: less memory, and the engine does not start or answers at half the "
        "speed.",
    .fix = "a requirement that leaves only this GPU: instance-gpu-name In [l40s], or instance-family In [g6e]",
    .source = "Karpenter documentation, well-known labels",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {nvidia.com/gpu: 8}
  template:
    metadata: {labels: {accelerator: nvidia-l40s}}
    spec: {requirements: [{key: karpenter.k8s.aws/instance-category, operator: In, values: [g]}]}
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {nvidia.com/gpu: 8}
  template:
    metadata: {labels: {accelerator: nvidia-l40s}}
    spec: {requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [g6e]}]}
)",
    .check = pool_label_hw_lie::check,
};

}  // namespace capstan::lint
