#include <fmt/format.h>

#include "lint/pools.h"
#include "lint/rule.h"
#include "lint/sharing.h"

namespace capstan::lint {
namespace limits_count_shared_units {
namespace {

void check(const Subject& s) {
  const std::optional<Pool> pool = gpu_pool_of(s.object);
  if (!pool) return;
  const Value& limit = (*pool->limits)["nvidia.com/gpu"];
  if (!limit.integer()) return;
  const std::int64_t shares = max_shares(s);
  if (shares < 2) return;
  s.report(limit, fmt::format("the limit {} counts shares; at {} shares per GPU it is {} GPUs", limit.text, shares,
                              *limit.integer() / shares));
}

}  // namespace
}  // namespace limits_count_shared_units

extern const Rule rule_limits_count_shared_units;
const Rule rule_limits_count_shared_units = {
    .id = "limits-count-shared-units",
    .severity = Severity::info,
    .kinds = "NodePool",
    .title = "a pool's limit counts shares of GPUs",
    .why =
        "Nodes that share their GPUs offer each GPU several times, and the limit counts shares. With four shares per "
        "GPU, a limit of 40 is ten GPUs.",
    .fix = "count the limit in shares, and say so in a comment",
    .source = "aws-samples karpenter-blueprints, gpu-nodepool.yaml",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: shared}
spec: {limits: {nvidia.com/gpu: 40}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: sharing}
data:
  any: |
    version: v1
    sharing:
      timeSlicing:
        resources: [{name: nvidia.com/gpu, replicas: 4}]
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: whole}
spec: {limits: {nvidia.com/gpu: 10}}
)",
    .check = limits_count_shared_units::check,
};

}  // namespace capstan::lint
