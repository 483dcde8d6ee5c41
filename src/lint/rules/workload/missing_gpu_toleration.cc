#include <fmt/format.h>

#include <algorithm>

#include "lint/pods.h"
#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace missing_gpu_toleration {
namespace {

/// A tainted GPU pool of the folder, and whether the folder has any GPU pool.
struct Pools {
  const Object* tainted = nullptr;
  bool has_any = false;
};

Pools pools_of(const Subject& s) {
  Pools out;
  for (const Object* object : s.set.in_folder("NodePool", s.object)) {
    const std::optional<Pool> pool = gpu_pool_of(*object);
    out.has_any = out.has_any || pool;
    if (pool && is_tainted(*pool)) out.tainted = object;
  }
  return out;
}

/// Returns true if the pod selects nodes by labels of GKE. GKE then adds the toleration for GPUs.
bool selects_gke_nodes(const Pod& pod) {
  const auto is_gke_label = [](std::string_view key) { return key.starts_with("cloud.google.com/"); };
  // Topology requests of Kueue are annotations whose value is a label.
  const auto names_gke = [&](const Value& entry) { return is_gke_label(entry.text); };
  if (std::ranges::any_of((*pod.metadata)["annotations"].children(), names_gke)) return true;
  const Value& spec = *pod.spec;
  if (std::ranges::any_of(spec["nodeSelector"].children(), [&](const Value& entry) { return is_gke_label(entry.key); }))
    return true;
  const Value& terms = at(spec, "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution");
  for (const Value& term : terms["nodeSelectorTerms"].children()) {
    for (const Value& expression : term["matchExpressions"].children()) {
      if (is_gke_label(expression["key"].text)) return true;
    }
  }
  return std::ranges::any_of(spec["topologySpreadConstraints"].children(),
                             [&](const Value& constraint) { return is_gke_label(constraint["topologyKey"].text); });
}

void check(const Subject& s) {
  for (const auto& [pod, container] : gpu_pods_of(s.object)) {
    if ((*pod.spec)["tolerations"] || selects_gke_nodes(pod) || is_partial(s.object)) continue;
    const Pools pools = pools_of(s);
    if (pools.has_any && pools.tainted == nullptr) continue;
    const Object* pool = pools.tainted;
    Finding& finding =
        s.report(container["name"] ? container["name"] : container,
                 pool != nullptr ? fmt::format("GPU pool {} has a taint, but the pod tolerates none", pool->name)
                                 : "the pod asks for a GPU but tolerates no taint");
    if (pool != nullptr) s.require_object(finding.set_severity(Severity::warning), *pool);
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
    .why = "GPU nodes usually have a taint. The pod stays pending, and a new node for it does not help.",
    .fix = "add tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]",
    .source = "Kubernetes documentation, taints; GKE adds the toleration",
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
