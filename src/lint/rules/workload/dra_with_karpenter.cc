#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace dra_with_karpenter {
namespace {

void check(const Subject& s) {
  const auto pools = s.set.in_folder("NodePool", s.object);
  if (pools.empty()) return;
  for (const Pod& pod : pods_of(s.object)) {
    const Value& claims = (*pod.spec)["resourceClaims"];
    if (claims.count == 0) continue;
    s.require_object(s.report_key(claims, "Karpenter ignores resourceClaims, so it launches no node for this pod"),
                     *pools.front());
  }
}

}  // namespace
}  // namespace dra_with_karpenter

extern const Rule rule_dra_with_karpenter;
const Rule rule_dra_with_karpenter = {
    .id = "dra-with-karpenter",
    .severity = Severity::warning,
    .kinds = "@pods",
    .title = "Karpenter ignores the pod's resourceClaims",
    .why =
        "Karpenter ignores resourceClaims by default. It launches no nodes for pods that ask for GPUs in this way, and "
        "they stay pending.",
    .fix = "use nvidia.com/gpu from the device plugin, or run Karpenter with IGNORE_DRA_REQUESTS=false",
    .source = "Karpenter options.go",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec: {limits: {nvidia.com/gpu: 8}}
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {resourceClaims: [{name: gpu, resourceClaimTemplateName: one}], containers: [{name: a, image: "a:1"}]}
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec: {limits: {nvidia.com/gpu: 8}}
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  tolerations: [{operator: Exists}]
  containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]
)",
    .check = dra_with_karpenter::check,
};

}  // namespace capstan::lint
