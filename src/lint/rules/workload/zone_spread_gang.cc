#include <fmt/format.h>

#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace zone_spread_gang {
namespace {

bool has_topology(const Value& metadata) {
  for (const Value& entry : metadata["annotations"].children()) {
    if (entry.key.find("topology") != entry.key.npos) return true;
  }
  return false;
}

void check(const Subject& s) {
  const Value& size = at(s.object, "spec.leaderWorkerTemplate.size");
  if (size.integer().value_or(1) < 2 || !wants_gpu(s.object) || has_topology(s.object["metadata"])) return;
  for (const Pod& pod : pods_of(s.object)) {
    if (has_topology(*pod.metadata) || at(*pod.spec, "affinity.podAffinity")) return;
  }
  s.report(size, fmt::format("no topology constraint places the {} pods of a replica near each other", size.text));
}

}  // namespace
}  // namespace zone_spread_gang

extern const Rule rule_zone_spread_gang;
const Rule rule_zone_spread_gang = {
    .id = "zone-spread-gang",
    .severity = Severity::info,
    .kinds = "LeaderWorkerSet",
    .title = "the pods of a replica may be in different zones",
    .why =
        "Tensor and pipeline parallelism exchange activations for every token. Across racks or zones each token waits "
        "for the network.",
    .fix =
        "set a topology of KAI or Kueue (kai.scheduler/topology, podset-required-topology), or LeaderWorkerSet's "
        "exclusive-topology",
    .source = "LeaderWorkerSet, KAI and Kueue documentation",
    .bad = R"(apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: a, labels: {kueue.x-k8s.io/queue-name: q}}
spec:
  leaderWorkerTemplate:
    size: 2
    workerTemplate: {spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 8}}}]}}
)",
    .good = R"(apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata:
  name: a
  labels: {kueue.x-k8s.io/queue-name: q}
  annotations: {leaderworkerset.sigs.k8s.io/exclusive-topology: rack}
spec:
  leaderWorkerTemplate:
    size: 2
    workerTemplate: {spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 8}}}]}}
)",
    .check = zone_spread_gang::check,
};

}  // namespace capstan::lint
