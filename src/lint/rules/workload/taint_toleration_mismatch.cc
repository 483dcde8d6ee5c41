#include <fmt/format.h>

#include <algorithm>

#include "lint/pods.h"
#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace taint_toleration_mismatch {
namespace {

/// Returns the toleration that has the taint's key but another value. Returns null if another toleration matches the
/// taint.
const Value* find_near_match(const Value& tolerations, const Value& taint) {
  const Value* found = nullptr;
  for (const Value& toleration : tolerations.children()) {
    if (tolerates(toleration, taint)) return nullptr;
    if (toleration["key"] && taint["key"].is(toleration["key"].text) && toleration["value"]) found = &toleration;
  }
  return found;
}

/// Returns true if the pod may run on the nodes of this pool. If only the value of a toleration differs from a taint,
/// sets `mismatched_toleration` to the toleration and `mismatched_taint` to the taint.
bool admits(const Pool& pool, const Value& tolerations, const Value*& mismatched_toleration,
            const Value*& mismatched_taint) {
  bool is_admitted = true;
  for (const Value& taint : (*pool.node)["taints"].children()) {
    if (taint["effect"].is("PreferNoSchedule")) continue;
    if (std::ranges::any_of(tolerations.children(),
                            [&](const Value& toleration) { return tolerates(toleration, taint); }))
      continue;
    is_admitted = false;
    if (const Value* value = find_near_match(tolerations, taint)) {
      mismatched_toleration = value;
      mismatched_taint = &taint;
    }
  }
  return is_admitted;
}

void check_pod(const Subject& s, const Pod& pod) {
  const Value* mismatched_toleration = nullptr;
  const Value* taint = nullptr;
  const Object* tainted = nullptr;
  for (const Object* object : s.set.in_folder("NodePool", s.object)) {
    const std::optional<Pool> pool = gpu_pool_of(*object);
    if (!pool) continue;
    const Value* before = taint;
    if (admits(*pool, (*pod.spec)["tolerations"], mismatched_toleration, taint)) return;  // this pool accepts the pod
    if (taint != before) tainted = object;
  }
  if (mismatched_toleration == nullptr) return;
  const Value& value = (*mismatched_toleration)["value"];
  Finding& finding =
      s.report(value, fmt::format("the pod tolerates {}={}, but pool {} has the taint {}={}", (*taint)["key"].text,
                                  value.text, tainted->name, (*taint)["key"].text, (*taint)["value"].text));
  if (!s.set.is_complete())
    finding.set_severity(Severity::warning);  // the cluster may have nodes that no pool launches
  s.require_object(finding, *tainted);
}

void check(const Subject& s) {
  for (const Pod& pod : pods_of(s.object)) {
    // GKE taints its GPU nodes itself, and adds the toleration to pods that select such nodes.
    const bool is_for_gke = static_cast<bool>((*pod.spec)["nodeSelector"]["cloud.google.com/gke-accelerator"]);
    if (wants_gpu(pod) && !is_for_gke) check_pod(s, pod);
  }
}

}  // namespace
}  // namespace taint_toleration_mismatch

extern const Rule rule_taint_toleration_mismatch;
const Rule rule_taint_toleration_mismatch = {
    .id = "taint-toleration-mismatch",
    .severity = Severity::error,
    .kinds = "@gpu",
    .title = "a toleration has a different value than the taint",
    .why =
        "The operator Equal compares the value too. The pod does not tolerate the pool that it was meant for and stays "
        "pending. Without --closed-world the finding is a warning, because the cluster may have other nodes.",
    .fix = "use operator Exists",
    .source = "Kubernetes documentation, taints and tolerations",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec: {limits: {nvidia.com/gpu: 8}, template: {spec: {taints: [{key: nvidia.com/gpu, effect: NoSchedule}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  tolerations:
    - {key: nvidia.com/gpu, operator: Equal, value: present, effect: NoSchedule}
  containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec: {limits: {nvidia.com/gpu: 8}, template: {spec: {taints: [{key: nvidia.com/gpu, effect: NoSchedule}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  tolerations:
    - {key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}
  containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]
)",
    .check = taint_toleration_mismatch::check,
};

}  // namespace capstan::lint
