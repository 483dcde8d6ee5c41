#include "lint/pods.h"
#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace mig_nonmig_same_pool {
namespace {

void check(const Subject& s) {
  const std::optional<Pool> pool = gpu_pool_of(s.object);
  std::size_t pools = 0;
  for (const Object* object : s.set.in_folder("NodePool", s.object)) pools += gpu_pool_of(*object) ? 1 : 0;
  if (!pool || pools != 1) return;  // with several pools, each may have its own pods
  const Object* slices = nullptr;
  const Object* whole = nullptr;
  for (const std::string_view kind : {"Deployment", "StatefulSet", "Pod"}) {
    for (const Object* workload : s.set.in_folder(kind, s.object)) {
      for (const Pod& pod : pods_of(*workload)) {
        for (const Value* container : all_containers_of(pod)) {
          for (const GpuResource& resource : gpu_resources(*container)) {
            if (resource.name.starts_with("nvidia.com/mig-")) slices = workload;
            if (resource.name == "nvidia.com/gpu") whole = workload;
          }
        }
      }
    }
  }
  if (slices == nullptr || whole == nullptr) return;
  const Object& other = slices->file == s.object.file ? *whole : *slices;
  s.require_object(s.report_object("pods that ask for slices and pods that ask for whole GPUs share the only GPU pool"),
                   other);
}

}  // namespace
}  // namespace mig_nonmig_same_pool

extern const Rule rule_mig_nonmig_same_pool;
const Rule rule_mig_nonmig_same_pool = {
    .id = "mig-nonmig-same-pool",
    .severity = Severity::info,
    .kinds = "NodePool",
    .title = "one pool provides both slices and whole GPUs",
    .why =
        "A node offers either slices or whole GPUs. To change its geometry all its GPU pods must end, so pods of the "
        "other kind wait. With strategy mixed a node may have both, so the finding is advice.",
    .fix = "make one pool for slices and another for whole GPUs",
    .source = "NVIDIA GPU operator documentation, MIG",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec: {limits: {nvidia.com/gpu: 8}}
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/mig-1g.5gb: 1}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: b}
spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]}
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec: {limits: {nvidia.com/gpu: 8}}
---
apiVersion: v1
kind: Pod
metadata: {name: b}
spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]}
)",
    .check = mig_nonmig_same_pool::check,
};

}  // namespace capstan::lint
