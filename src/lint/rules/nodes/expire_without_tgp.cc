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
  for (const Object* workload : s.set.beside("Deployment", s.object)) {
    for (const Pod& pod : pods_of(*workload)) {
      if (!wants_gpu(pod) || !(*pod.metadata)["annotations"]["karpenter.sh/do-not-disrupt"]) continue;
      const std::string words = fmt::format("at their end nodes wait for {} without a bound", workload->title());
      s.join(expire ? s.report(expire, words) : s.report_object(words), *workload);
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
    .title = "nodes that end wait for ever for pods that must not be disturbed",
    .why =
        "At its end a node is drained; a pod with do-not-disrupt holds the drain up, without a bound unless the pool "
        "has a terminationGracePeriod: node and pod stay, paid for and cordoned.",
    .fix = "terminationGracePeriod beside expireAfter",
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
