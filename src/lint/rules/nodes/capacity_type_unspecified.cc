#include <fmt/format.h>

#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace capacity_type_unspecified {
namespace {

void check(const Subject& s) {
  const std::optional<Pool> pool = gpu_pool_of(s.object);
  const Value& requirements = pool ? (*pool->node)["requirements"] : Value::missing();
  if (!requirements || requirement(*pool, "capacity-type")) return;
  s.report_key(requirements,
               fmt::format("pool {} does not state if it launches spot or on-demand nodes", s.object.name));
}

}  // namespace
}  // namespace capacity_type_unspecified

extern const Rule rule_capacity_type_unspecified;
const Rule rule_capacity_type_unspecified = {
    .id = "capacity-type-unspecified",
    .severity = Severity::info,
    .kinds = "NodePool",
    .title = "a GPU pool does not state its capacity type",
    .why =
        "Without the requirement the pool launches on-demand nodes only. A reader of the pool cannot know if that is "
        "intended.",
    .fix = "add {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}",
    .source = "Karpenter documentation",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {nvidia.com/gpu: 8}
  template: {spec: {requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]}}
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {nvidia.com/gpu: 8}
  template: {spec: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]}}
)",
    .check = capacity_type_unspecified::check,
};

}  // namespace capstan::lint
