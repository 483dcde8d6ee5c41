#include <fmt/format.h>

#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace ami_latest_alias {
namespace {

/// Returns a GPU pool whose nodes use this class; null if none is known.
const Object* gpu_pool(const Subject& s) {
  for (const Object* object : s.set.in_closest_folder("NodePool", s.object)) {
    const std::optional<Pool> pool = gpu_pool_of(*object);
    if (pool && at(*pool->node, "nodeClassRef.name").is(s.object.name)) return object;
  }
  return nullptr;
}

void check(const Subject& s) {
  for (const Value& term : s.object["spec"]["amiSelectorTerms"].children()) {
    const Value& alias = term["alias"];
    const bool has_new_images = alias.text != "al2@latest";  // Amazon Linux 2 gets no new images
    const Object* pool = alias.text.ends_with("@latest") && has_new_images ? gpu_pool(s) : nullptr;
    if (pool == nullptr) continue;
    Finding& finding = s.report(alias, fmt::format("with {} every new image replaces the GPU nodes", alias.text));
    s.require_object(finding, *pool, s.object.name);
  }
}

}  // namespace
}  // namespace ami_latest_alias

extern const Rule rule_ami_latest_alias;
const Rule rule_ami_latest_alias = {
    .id = "ami-latest-alias",
    .severity = Severity::info,
    .kinds = "EC2NodeClass",
    .title = "the images of GPU nodes change without a change of the manifest",
    .why =
        "Karpenter treats each new image as drift. It then replaces nodes that serve, each with a cold start, at a "
        "time that you do not choose. The finding is advice, because disruption budgets, short-lived nodes or replicas "
        "that may end at any time make it harmless.",
    .fix = "pin a version: al2023@v20250519",
    .source = "Karpenter documentation, managing AMIs",
    .bad = R"(apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: gpu}
spec: {amiSelectorTerms: [{alias: al2023@latest}]}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu-inference}
spec:
  limits: {nvidia.com/gpu: 8}
  template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}}}
)",
    .good = R"(apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: gpu}
spec: {amiSelectorTerms: [{alias: al2023@v20250519}]}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu-inference}
spec:
  limits: {nvidia.com/gpu: 8}
  template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}}}
)",
    .check = ami_latest_alias::check,
};

}  // namespace capstan::lint
