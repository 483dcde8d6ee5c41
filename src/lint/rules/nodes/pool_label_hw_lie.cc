#include <fmt/format.h>

#include <algorithm>

#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace pool_label_hw_lie {
namespace {

/// Returns the GPU that a label names: l40s for "nvidia-l40s", not l4.
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
  for (const Value& node_label : (*pool->metadata)["labels"].children()) {
    const std::string_view gpu = gpu_in(node_label.text);
    if (gpu.empty()) continue;
    const auto mismatch = std::ranges::find_if(families, [&](const GpuFamily* family) { return family->gpu != gpu; });
    if (mismatch == families.end()) continue;
    Finding& finding =
        s.report(node_label, fmt::format("the pool gives its nodes the label {}, but may launch {} with a {}",
                                         node_label.text, (*mismatch)->family, (*mismatch)->gpu));
    if (is_narrowed(*pool)) finding.set_severity(Severity::warning);
  }
}

}  // namespace
}  // namespace pool_label_hw_lie

extern const Rule rule_pool_label_hw_lie;
const Rule rule_pool_label_hw_lie = {
    .id = "pool-label-hw-lie",
    .severity = Severity::error,
    .kinds = "NodePool",
    .title = "nodes get the label of a GPU that they may not have",
    .why =
        "Pods that select the label may run on another GPU. With less memory the engine does not start, or it answers "
        "at half the speed.",
    .fix = "add a requirement that allows only this GPU: instance-gpu-name In [l40s], or instance-family In [g6e]",
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
