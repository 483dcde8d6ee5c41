#include <fmt/format.h>

#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace gpu_consolidate_after_short {
namespace {

void check(const Subject& s) {
  const std::optional<Pool> pool = gpu_pool_of(s.object);
  if (!pool) return;
  const Value& disruption = (*pool->spec)["disruption"];
  const Value& after = disruption["consolidateAfter"];
  if (!disruption["consolidationPolicy"].is("WhenEmpty") || after.is("Never")) return;
  const auto seconds = after ? seconds_of(after.text) : std::optional<std::int64_t>(0);
  if (!seconds || *seconds >= 3600) return;
  s.report(after ? after : disruption["consolidationPolicy"],
           fmt::format("an empty GPU node is terminated after {} s", *seconds));
}

}  // namespace
}  // namespace gpu_consolidate_after_short

extern const Rule rule_gpu_consolidate_after_short;
const Rule rule_gpu_consolidate_after_short = {
    .id = "gpu-consolidate-after-short",
    .severity = Severity::info,
    .kinds = "NodePool",
    .title = "an empty GPU node is terminated before the next replica needs it",
    .why =
        "Between two bursts the node is terminated, and the next replica has a cold start of minutes. A new GPU node "
        "is often not available at once.",
    .fix = "set consolidateAfter to a value of 15 min to 1 h",
    .source = "Karpenter documentation, disruption",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec: {limits: {nvidia.com/gpu: 8}, disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 30s}}
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec: {limits: {nvidia.com/gpu: 8}, disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 1h}}
)",
    .check = gpu_consolidate_after_short::check,
};

}  // namespace capstan::lint
