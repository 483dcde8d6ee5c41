#include <fmt/format.h>

#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace hostpath_not_instance_store {
namespace {

void check(const Subject& s) {
  const std::span<const Object* const> classes = s.set.in_folder("EC2NodeClass", s.object);
  for (const Object* node_class : classes) {
    if (at(*node_class, "spec.instanceStorePolicy") || at(*node_class, "spec.userData")) return;
  }
  for (const Pod& pod : pods_of(s.object)) {
    if (classes.empty() || !wants_gpu(pod)) continue;
    for (const Value& volume : (*pod.spec)["volumes"].children()) {
      const Value& path = at(volume, "hostPath.path");
      if (path.text.find("nvme") == path.text.npos && path.text.find("cache") == path.text.npos) continue;
      Finding& finding = s.report(
          path, fmt::format("{} is on the root volume, because EC2NodeClass {} does not set up the instance store",
                            path.text, classes.front()->name));
      s.require_object(finding, *classes.front());
      // A cache may be meant to be on the root volume, and the pod may run on the nodes of another class.
      if (path.text.find("nvme") == path.text.npos || classes.size() > 1) finding.set_severity(Severity::info);
    }
  }
}

}  // namespace
}  // namespace hostpath_not_instance_store

extern const Rule rule_hostpath_not_instance_store;
const Rule rule_hostpath_not_instance_store = {
    .id = "hostpath-not-instance-store",
    .severity = Severity::warning,
    .kinds = "@gpu",
    .title = "the node's model cache is not on its instance store",
    .why =
        "Without instanceStorePolicy RAID0 the NVMe disks are not mounted. The path is then on the root volume, which "
        "reads 125 MB/s and becomes full. For a path without \"nvme\" the finding is advice.",
    .fix = "set instanceStorePolicy to RAID0 in the EC2NodeClass",
    .source = "Karpenter documentation, EC2NodeClass",
    .bad = R"(apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: gpu}
spec: {amiSelectorTerms: [{alias: al2023@v20250519}]}
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]
  volumes: [{name: cache, hostPath: {path: /mnt/nvme/cache}}]
)",
    .good = R"(apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: gpu}
spec: {amiSelectorTerms: [{alias: al2023@v20250519}], instanceStorePolicy: RAID0}
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]
  volumes: [{name: cache, hostPath: {path: /mnt/nvme/cache}}]
)",
    .check = hostpath_not_instance_store::check,
};

}  // namespace capstan::lint
