#include <fmt/format.h>

#include "lint/pods.h"
#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace nodeselector_label_unsatisfiable {
namespace {

/// Returns true for labels without a group. Other components set the labels with a group: the kubelet, the cloud, GPU
/// feature discovery.
bool has_no_group(std::string_view key) { return key.find('/') == key.npos; }

bool provides(const Pool& pool, const Value& selector) {
  if ((*pool.metadata)["labels"][selector.key].is(selector.text)) return true;
  const Value& entry = requirement(pool, selector.key);
  if (!entry) return false;
  if (!entry["operator"].is("In")) return true;
  for (const Value& value : entry["values"].children()) {
    if (value.is(selector.text)) return true;
  }
  return false;
}

void check(const Subject& s) {
  if (!s.set.is_complete()) return;
  const std::span<const Object* const> pools = s.set.in_folder("NodePool", s.object);
  for (const Pod& pod : pods_of(s.object)) {
    if (pools.empty() || !wants_gpu(pod)) continue;
    for (const Value& selector : (*pod.spec)["nodeSelector"].children()) {
      if (!has_no_group(selector.key)) continue;
      bool is_provided = false;
      for (const Object* object : pools)
        is_provided = is_provided || (pool_of(*object) && provides(*pool_of(*object), selector));
      if (!is_provided)
        s.report(selector,
                 fmt::format("no pool of the input gives its nodes the label {}={}", selector.key, selector.text));
    }
  }
}

}  // namespace
}  // namespace nodeselector_label_unsatisfiable

extern const Rule rule_nodeselector_label_unsatisfiable;
const Rule rule_nodeselector_label_unsatisfiable = {
    .id = "nodeselector-label-unsatisfiable",
    .severity = Severity::error,
    .kinds = "@gpu",
    .title = "no pool gives its nodes the label that the pod requires",
    .why = "The pod stays pending, because no node that a pool can launch has the label.",
    .fix = "use the pool's label, or add the label to the pool's template",
    .source = "Karpenter documentation, scheduling",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec: {limits: {nvidia.com/gpu: 8}, template: {metadata: {labels: {tier: gpu}}, spec: {requirements: []}}}
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  nodeSelector: {tier: accelerated}
  containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec: {limits: {nvidia.com/gpu: 8}, template: {metadata: {labels: {tier: gpu}}, spec: {requirements: []}}}
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  nodeSelector: {tier: gpu}
  containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]
)",
    .check = nodeselector_label_unsatisfiable::check,
};

}  // namespace capstan::lint
