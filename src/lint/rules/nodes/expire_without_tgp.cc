#include <fmt/format.h>

#include "lint/pods.h"
#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace expire_without_tgp {
namespace {

void check(const Subject& s) {
  const std::optional<Pool> pool = gpu_pool_of(s.object);
  if (!pool) return;
  const Value& expire = (*pool->node)["expireAfter"];
  if (expire.is("Never") || (*pool->node)["terminationGracePeriod"]) return;
  for (const Object* workload : s.set.in_folder("Deployment", s.object)) {
    for (const Pod& pod : pods_of(*workload)) {
      if (!wants_gpu(pod) || !(*pod.metadata)["annotations"]["karpenter.sh/do-not-disrupt"].is("true")) continue;
      const std::string message = fmt::format("expired nodes wait for {} without a time limit", workload->title());
      Finding& finding = expire ? s.report(expire, message) : s.report_object(message);
      // Without expireAfter the author may not want nodes to expire at all.
      s.require_object(expire ? finding : finding.set_severity(Severity::info), *workload);
      return;
    }
  }
}

}  // namespace
}  // namespace expire_without_tgp

extern const Rule rule_expire_without_tgp;
const Rule rule_expire_without_tgp = {
    .id = "expire-without-tgp",
    .severity = Severity::warning,
    .kinds = "NodePool",
    .title = "expired nodes wait forever for pods with do-not-disrupt",
    .why =
        "An expired node is drained. A pod with do-not-disrupt blocks the drain without a time limit, unless the pool "
        "has a terminationGracePeriod. Node and pod stay, cordoned, and still cost money. Without expireAfter the "
        "finding is advice, because the author may not want nodes to expire.",
    .fix = "add terminationGracePeriod next to expireAfter",
    .source = "Karpenter documentation, disruption",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec: {limits: {nvidia.com/gpu: 8}, template: {spec: {expireAfter: 168h}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {annotations: {karpenter.sh/do-not-disrupt: "true"}}
    spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]}
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec: {limits: {nvidia.com/gpu: 8}, template: {spec: {expireAfter: 168h, terminationGracePeriod: 15m}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {annotations: {karpenter.sh/do-not-disrupt: "true"}}
    spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]}
)",
    .check = expire_without_tgp::check,
};

}  // namespace capstan::lint
