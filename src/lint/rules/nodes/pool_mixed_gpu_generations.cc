#include <fmt/format.h>

#include <algorithm>

#include "lint/pods.h"
#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace pool_mixed_gpu_generations {
namespace {

const Value& which(const Pool& pool) {
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
  const auto by_key = [](const Value& entry) { return chooses_gpu(entry.key); };
  if (std::ranges::any_of((*pod.spec)["nodeSelector"].children(), by_key)) return true;
  const Value& terms = at(*pod.spec, "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution");
  for (const Value& term : terms["nodeSelectorTerms"].children()) {
    for (const Value& expression : term["matchExpressions"].children()) {
      if (chooses_gpu(expression["key"].text)) return true;
    }
  }
  return false;
}

/// Returns a workload of the folder whose pods may get any GPU of the pool; null where none shows.
const Object* takes_any(const Subject& s) {
  for (const std::string_view kind : {"Deployment", "StatefulSet", "LeaderWorkerSet", "Pod", "Job"}) {
    for (const Object* workload : s.set.beside(kind, s.object)) {
      for (const Pod& pod : pods_of(*workload)) {
        if (wants_gpu(pod) && !chooses_gpu(pod)) return workload;
      }
    }
  }
  return nullptr;
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
  std::string words;
  for (std::size_t i = 0; i < kinds.size() && i < 4; ++i) words += (i == 0 ? "" : ", ") + kinds[i];
  if (kinds.size() > 4) words += ", ...";
  Finding& finding = s.report(
      which(*pool),
      is_narrowed(*pool)
          ? fmt::format("of {} different GPUs ({}) it may buy all that the sizes below leave", kinds.size(), words)
          : fmt::format("may buy {} different GPUs: {}", kinds.size(), words));
  const auto memory = [&](const GpuFamily* family) { return family->memory_gib == families.front()->memory_gib; };
  // What fits on one fits on the others; or the pods of a pool for all say elsewhere on which they fit.
  const Object* workload = takes_any(s);
  if (std::ranges::all_of(families, memory) || workload == nullptr) {
    finding.as(Severity::info);
  } else {
    s.join(finding, *workload);
  }
}

}  // namespace
}  // namespace pool_mixed_gpu_generations

extern const Rule rule_pool_mixed_gpu_generations;
const Rule rule_pool_mixed_gpu_generations = {
    .id = "pool-mixed-gpu-generations",
    .severity = Severity::warning,
    .kinds = "@pool",
    .title = "one pool buys different GPUs",
    .why =
        "Which one a pod gets is chance: a small model on a node with eight A100 at 22 dollars an hour, a large one on "
        "a GPU that it does not fit.",
    .fix = "a pool for each GPU",
    .source = "Karpenter documentation, NodePools",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {nvidia.com/gpu: 8}
  template:
    spec: {requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [g4dn, p4d]}]}
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
