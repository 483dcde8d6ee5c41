#include <fmt/format.h>

#include "lint/pods.h"
#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace node_tgp_shorter_than_pod {
namespace {

void check(const Subject& s) {
  const std::optional<Pool> pool = gpu_pool_of(s.object);
  if (!pool) return;
  const Value& period = (*pool->node)["terminationGracePeriod"];
  const auto seconds = seconds_of(period.text);
  if (!seconds) return;
  for (const std::string_view kind : {"Deployment", "StatefulSet", "LeaderWorkerSet"}) {
    for (const Object* workload : s.set.in_folder(kind, s.object)) {
      for (const Pod& pod : pods_of(*workload)) {
        const std::int64_t grace = (*pod.spec)["terminationGracePeriodSeconds"].integer().value_or(30);
        if (!wants_gpu(pod) || grace <= *seconds) continue;
        s.require_object(
            s.report(period, fmt::format("nodes are deleted after {} s, but pods of {} may take {} s to end", *seconds,
                                         workload->title(), grace)),
            *workload);
        return;
      }
    }
  }
}

}  // namespace
}  // namespace node_tgp_shorter_than_pod

extern const Rule rule_node_tgp_shorter_than_pod;
const Rule rule_node_tgp_shorter_than_pod = {
    .id = "node-tgp-shorter-than-pod",
    .severity = Severity::warning,
    .kinds = "NodePool",
    .title = "nodes may be deleted before their pods have ended",
    .why =
        "The node's terminationGracePeriod counts from the start of its drain. When this time is over, pods that still "
        "answer requests are killed.",
    .fix = "set it to at least the longest terminationGracePeriodSeconds of the pods",
    .source = "Karpenter documentation, disruption",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec: {limits: {nvidia.com/gpu: 8}, template: {spec: {terminationGracePeriod: 60s}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {a: b}}
  template:
    spec:
      terminationGracePeriodSeconds: 180
      containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec: {limits: {nvidia.com/gpu: 8}, template: {spec: {terminationGracePeriod: 10m}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {a: b}}
  template:
    spec:
      terminationGracePeriodSeconds: 180
      containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]
)",
    .check = node_tgp_shorter_than_pod::check,
};

}  // namespace capstan::lint
