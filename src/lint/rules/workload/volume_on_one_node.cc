#include <fmt/format.h>

#include <algorithm>

#include "lint/pods.h"
#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace volume_on_one_node {
namespace {

/// Returns true if only one node can use the volume at a time. Storage classes of network file systems serve several
/// nodes even in mode ReadWriteOnce. A storage class for the node's own disk is the usual choice of a cluster with one
/// node. For both, the result is false.
bool is_for_one_node(const Object& claim) {
  const Value& modes = claim["spec"]["accessModes"];
  const auto is_once = [](const Value& mode) { return mode.is("ReadWriteOnce") || mode.is("ReadWriteOncePod"); };
  if (modes.count == 0 || !std::ranges::all_of(modes.children(), is_once)) return false;
  const std::string_view storage = claim["spec"]["storageClassName"].text;
  for (const std::string_view word : {"efs", "nfs", "file", "fsx", "lustre", "local", "hostpath"}) {
    if (storage.find(word) != storage.npos) return false;
  }
  return true;
}

/// Returns the largest number of replicas that the workload may have, with the autoscalers that surely belong to it.
std::int64_t replicas_of(const Subject& s) {
  std::int64_t replicas = s.object["spec"]["replicas"].integer().value_or(1);
  for (const Object* scaler : scalers_of(s.object, s.set)) {
    if (!s.set.belong_together(s.object, *scaler, s.object.name)) continue;
    replicas = std::max(replicas, scaler_of(*scaler)->max->integer().value_or(1));
  }
  return replicas;
}

/// Returns true if the pod's affinity forbids two replicas on one node.
bool excludes_a_shared_node(const Pod& pod) {
  const Value& terms = at(*pod.spec, "affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution");
  return std::ranges::any_of(terms.children(), [&](const Value& term) {
    return term["topologyKey"].is("kubernetes.io/hostname") &&
           selects(at(term, "labelSelector.matchLabels"), (*pod.metadata)["labels"]);
  });
}

void check(const Subject& s) {
  const std::int64_t replicas = replicas_of(s);
  if (replicas < 2) return;
  for (const Pod& pod : pods_of(s.object)) {
    if (!wants_gpu(pod)) continue;
    for (const Value& volume : (*pod.spec)["volumes"].children()) {
      const Value& name = volume["persistentVolumeClaim"]["claimName"];
      const Object* claim = name ? s.set.find("PersistentVolumeClaim", name.text, s.object) : nullptr;
      if (claim == nullptr || !is_for_one_node(*claim)) continue;
      Finding& finding =
          s.report(name, fmt::format("one node at a time can use the claim {}, but the workload has up to {} replicas",
                                     name.text, replicas));
      if (!excludes_a_shared_node(pod)) finding.set_severity(Severity::warning);
      s.require_object(finding, *claim, name.text);
    }
  }
}

}  // namespace
}  // namespace volume_on_one_node

extern const Rule rule_volume_on_one_node;
const Rule rule_volume_on_one_node = {
    .id = "volume-on-one-node",
    .severity = Severity::error,
    .kinds = "Deployment",
    .title = "several replicas share a volume that only one node can use",
    .why =
        "A ReadWriteOnce volume is attached to one node. Replicas on other nodes stay in ContainerCreating, so the "
        "fleet is limited to the GPUs of one node. The finding is an error if the pods exclude each other from a node, "
        "and else a warning.",
    .fix = "use a ReadOnlyMany or ReadWriteMany volume, or a cache on each node",
    .source = "Kubernetes documentation, access modes of persistent volumes",
    .bad = R"(apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: models}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 100Gi}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  replicas: 2
  selector: {matchLabels: {a: b}}
  template:
    spec:
      containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]
      volumes: [{name: models, persistentVolumeClaim: {claimName: models}}]
)",
    .good = R"(apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: models}
spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 100Gi}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  replicas: 2
  selector: {matchLabels: {a: b}}
  template:
    spec:
      containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]
      volumes: [{name: models, persistentVolumeClaim: {claimName: models}}]
)",
    .check = volume_on_one_node::check,
};

}  // namespace capstan::lint
