#include <fmt/format.h>

#include <algorithm>

#include "lint/pods.h"
#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace missing_gpu_toleration {
namespace {

/// The GPU pools of the folder: one that is tainted, and whether there is any.
struct Pools {
  const Object* tainted = nullptr;
  bool any = false;
};

Pools pools_of(const Subject& s) {
  Pools out;
  for (const Object* object : s.set.beside("NodePool", s.object)) {
    const std::optional<Pool> pool = gpu_pool_of(*object);
    out.any = out.any || pool;
    if (pool && is_tainted(*pool)) out.tainted = object;
  }
  return out;
}

/// GKE gives pods that choose nodes by its labels the toleration for GPUs itself.
bool is_of_gke(const Pod& pod) {
  const auto of_gke = [](std::string_view key) { return key.starts_with("cloud.google.com/"); };
  const auto names_gke = [&](const Value& note) { return of_gke(note.text); };  // a topology that Kueue is asked for
  if (std::ranges::any_of((*pod.metadata)["annotations"].children(), names_gke)) return true;
  const Value& spec = *pod.spec;
  if (std::ranges::any_of(spec["nodeSelector"].children(), [&](const Value& entry) { return of_gke(entry.key); }))
    return true;
  const Value& terms = at(spec, "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution");
  for (const Value& term : terms["nodeSelectorTerms"].children()) {
    for (const Value& expression : term["matchExpressions"].children()) {
      if (of_gke(expression["key"].text)) return true;
    }
  }
  return std::ranges::any_of(spec["topologySpreadConstraints"].children(),
                             [&](const Value& constraint) { return of_gke(constraint["topologyKey"].text); });
}

void check(const Subject& s) {
  for (const auto& [pod, container] : gpu_pods_of(s.object)) {
    if ((*pod.spec)["tolerations"] || is_of_gke(pod) || is_partial(s.object)) continue;
    const Pools pools = pools_of(s);
    if (pools.any && pools.tainted == nullptr) continue;
    const Object* pool = pools.tainted;
    Finding& finding =
        s.report(container["name"] ? container["name"] : container,
                 pool != nullptr ? fmt::format("GPU pool {} is tainted, and the pod tolerates nothing", pool->name)
                                 : "asks for a GPU and tolerates no taint");
    if (pool != nullptr) s.join(finding.as(Severity::warning), *pool);
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
    .why = "GPU nodes are mostly tainted; the pod stays pending, and a node that is bought for it does not help.",
    .fix = "tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]",
    .source = "Kubernetes documentation, taints; GKE adds it by itself",
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
