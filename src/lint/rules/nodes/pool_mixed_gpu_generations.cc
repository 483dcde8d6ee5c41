#include <fmt/format.h>

#include <algorithm>

#include "lint/gpu_memory.h"
#include "lint/pods.h"
#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace pool_mixed_gpu_generations {
namespace {

const Value& gpu_values(const Pool& pool) {
  for (const std::string_view key : {"instance-family", "instance-type", "instance-category"}) {
    if (const Value& entry = requirement(pool, key)) return entry["values"];
  }
  return (*pool.node)["requirements"];
}

bool chooses_gpu(std::string_view key) {
  for (const std::string_view word : {"gpu-name", "gpu.product", "instance-family", "instance-type", "accelerator"}) {
    if (key.find(word) != key.npos) return true;
  }
  return false;
}

bool chooses_gpu(const Pod& pod) {
  const auto names_gpu = [](const Value& entry) { return chooses_gpu(entry.key); };
  if (std::ranges::any_of((*pod.spec)["nodeSelector"].children(), names_gpu)) return true;
  const Value& terms = at(*pod.spec, "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution");
  for (const Value& term : terms["nodeSelectorTerms"].children()) {
    for (const Value& expression : term["matchExpressions"].children()) {
      if (chooses_gpu(expression["key"].text)) return true;
    }
  }
  return false;
}

/// Returns a workload in the folder whose pods may get any GPU of the pool; null if there is none.
const Object* workload_without_gpu_choice(const Subject& s) {
  for (const std::string_view kind : {"Deployment", "StatefulSet", "LeaderWorkerSet", "Pod", "Job"}) {
    for (const Object* workload : s.set.in_folder(kind, s.object)) {
      for (const Pod& pod : pods_of(*workload)) {
        if (wants_gpu(pod) && !chooses_gpu(pod)) return workload;
      }
    }
  }
  return nullptr;
}

/// Returns false if the weights of a workload's model are larger than the memory of its GPUs.
bool fits(const Object& workload, std::int64_t gpu_gib) {
  return std::ranges::none_of(gpu_pods_of(workload), [&](const GpuPod& found) {
    return memory_shortage(workload, found.container, gpu_gib).has_value();
  });
}

void check(const Subject& s) {
  const std::optional<Pool> pool = gpu_pool_of(s.object);
  if (!pool) return;
  const std::vector<const GpuFamily*> families = families_of(*pool);
  std::vector<std::string> kinds;
  for (const GpuFamily* family : families) {
    const std::string kind = fmt::format("{} {} GB", family->gpu, family->memory_gib);
    if (std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(kind);
  }
  if (kinds.size() < 2) return;
  std::string text;
  for (std::size_t i = 0; i < kinds.size() && i < 4; ++i) text += (i == 0 ? "" : ", ") + kinds[i];
  if (kinds.size() > 4) text += ", ...";
  Finding& finding = s.report(
      gpu_values(*pool),
      is_narrowed(*pool) ? fmt::format("the pool may launch several of {} different GPUs ({}), limited only by size",
                                       kinds.size(), text)
                         : fmt::format("the pool may launch {} different GPUs: {}", kinds.size(), text));
  // The finding is advice unless the workload certainly needs more memory than the smallest GPU has.
  const Object* workload = workload_without_gpu_choice(s);
  const auto smallest = std::ranges::min(families, {}, [](const GpuFamily* family) { return family->memory_gib; });
  if (workload == nullptr || fits(*workload, smallest->memory_gib)) {
    finding.set_severity(Severity::info);
  } else {
    s.require_object(finding, *workload);
  }
}

}  // namespace
}  // namespace pool_mixed_gpu_generations

extern const Rule rule_pool_mixed_gpu_generations;
const Rule rule_pool_mixed_gpu_generations = {
    .id = "pool-mixed-gpu-generations",
    .severity = Severity::warning,
    .kinds = "@pool",
    .title = "one pool launches different GPUs",
    .why =
        "The GPU of a pod is then random. A small model may run on a node with eight A100 at 22 USD/h, and a large one "
        "on a GPU that is too small for it. The finding is a warning if the weights of a workload in the input are "
        "larger "
        "than the memory of the smallest GPUs. Otherwise it is advice.",
    .fix = "make one pool per GPU",
    .source = "Karpenter documentation, NodePools",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {nvidia.com/gpu: 8}
  template:
    spec: {requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [g4dn, p4d]}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {a: b}}
  template:
    spec:
      containers:
        - name: a
          image: "vllm/vllm-openai:v0.20.0"
          args: [--model, Qwen/Qwen2.5-14B-Instruct]
          resources: {limits: {nvidia.com/gpu: 1}}
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {nvidia.com/gpu: 8}
  template: {spec: {requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [g6e]}]}}
)",
    .check = pool_mixed_gpu_generations::check,
};

}  // namespace capstan::lint
