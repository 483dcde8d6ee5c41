#include <fmt/format.h>

#include "lint/pods.h"
#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace karpenter_blind_to_sharing {
namespace {

void check(const Subject& s) {
  if (!gpu_pool_of(s.object) || !s.set.in_closest_folder("NodeOverlay", s.object).empty()) return;
  for (const std::string_view kind : {"Deployment", "StatefulSet", "Pod"}) {
    for (const Object* workload : s.set.in_folder(kind, s.object)) {
      for (const Pod& pod : pods_of(*workload)) {
        for (const GpuResource& resource : gpu_resources(gpu_container(pod))) {
          if (is_whole_gpu(resource.name)) continue;
          s.require_object(s.report_object(fmt::format("{} asks for {}, which Karpenter does not know",
                                                       workload->title(), resource.name)),
                           *workload);
          return;
        }
      }
    }
  }
}

}  // namespace
}  // namespace karpenter_blind_to_sharing

extern const Rule rule_karpenter_blind_to_sharing;
const Rule rule_karpenter_blind_to_sharing = {
    .id = "karpenter-blind-to-sharing",
    .severity = Severity::warning,
    .kinds = "NodePool",
    .title = "Karpenter does not know slices and shares of GPUs",
    .why =
        "Karpenter counts the whole GPUs of an instance type. It launches one node per share, or no node for a slice.",
    .fix = "add a NodeOverlay with the capacity (alpha), or use nodes that Karpenter does not manage",
    .source = "aws-samples karpenter-blueprints, node overlay",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec: {limits: {nvidia.com/gpu: 8}}
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/mig-1g.5gb: 1}}}]}
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec: {limits: {nvidia.com/gpu: 8}}
---
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: gpu}
spec: {capacity: {nvidia.com/mig-1g.5gb: 7}}
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/mig-1g.5gb: 1}}}]}
)",
    .check = karpenter_blind_to_sharing::check,
};

}  // namespace capstan::lint
