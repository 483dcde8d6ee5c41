#include <fmt/format.h>

#include "lint/mig_configs.h"
#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace mig_strategy_resource_mismatch {
namespace {

void check(const Subject& s) {
  for (const Pod& pod : pods_of(s.object)) {
    for (const Value* container : all_containers_of(pod)) {
      for (const GpuResource& resource : gpu_resources(*container)) {
        if (!resource.name.starts_with("nvidia.com/mig-")) continue;
        const MigStrategy strategy = mig_strategy(s);
        if (strategy.text != "single") continue;
        s.require_object(
            s.report_key(resource.quantity(),
                         fmt::format("MIG strategy single offers slices as nvidia.com/gpu, not as {}", resource.name)),
            *strategy.from);
      }
    }
  }
}

}  // namespace
}  // namespace mig_strategy_resource_mismatch

extern const Rule rule_mig_strategy_resource_mismatch;
const Rule rule_mig_strategy_resource_mismatch = {
    .id = "mig-strategy-resource-mismatch",
    .severity = Severity::error,
    .kinds = "@gpu",
    .title = "pods ask for slices by a name that the MIG strategy does not use",
    .why =
        "With strategy single a slice has the name nvidia.com/gpu. The names nvidia.com/mig-... exist only with mixed. "
        "The pod stays pending.",
    .fix = "set mig.strategy to mixed, or ask for nvidia.com/gpu",
    .source = "NVIDIA k8s-device-plugin documentation",
    .bad = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/mig-1g.5gb: 1}}}]}
---
apiVersion: nvidia.com/v1
kind: ClusterPolicy
metadata: {name: p}
spec: {mig: {strategy: single}}
)",
    .good = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/mig-1g.5gb: 1}}}]}
---
apiVersion: nvidia.com/v1
kind: ClusterPolicy
metadata: {name: p}
spec: {mig: {strategy: mixed}}
)",
    .check = mig_strategy_resource_mismatch::check,
};

}  // namespace capstan::lint
