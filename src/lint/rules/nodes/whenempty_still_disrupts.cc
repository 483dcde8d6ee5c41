#include <fmt/format.h>

#include <algorithm>

#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace whenempty_still_disrupts {
namespace {

void check(const Subject& s) {
  const std::optional<Pool> pool = gpu_pool_of(s.object);
  if (!pool) return;
  const Value& disruption = (*pool->spec)["disruption"];
  const Value& policy = disruption["consolidationPolicy"];
  const bool expires = !(*pool->node)["expireAfter"].is("Never");
  const bool drifts = !std::ranges::any_of(disruption["budgets"].children(), [](const Value& budget) {
    return budget["nodes"].is("0") || budget["nodes"].is("0%");
  });
  if (!policy.is("WhenEmpty") || (!expires && !drifts)) return;
  s.report(policy, fmt::format("running nodes are still replaced by {}{}{}", drifts ? "drift" : "",
                               drifts && expires ? " and by " : "", expires ? "expireAfter" : ""));
}

}  // namespace
}  // namespace whenempty_still_disrupts

extern const Rule rule_whenempty_still_disrupts;
const Rule rule_whenempty_still_disrupts = {
    .id = "whenempty-still-disrupts",
    .severity = Severity::info,
    .kinds = "NodePool",
    .title = "WhenEmpty does not protect a running node",
    .why =
        "Drift (a new image, a changed pool) and expireAfter, 30 days by default, replace nodes that serve, at any "
        "hour.",
    .fix =
        "set a budget of 0 for Drifted in busy hours, set expireAfter to Never or add a terminationGracePeriod, and "
        "put do-not-disrupt on pods that must not move",
    .source = "Karpenter documentation, disruption",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec: {limits: {nvidia.com/gpu: 8}, disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 1h}}
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {nvidia.com/gpu: 8}
  template: {spec: {expireAfter: Never}}
  disruption:
    consolidationPolicy: WhenEmpty
    consolidateAfter: 1h
    budgets: [{nodes: "0", reasons: [Drifted], schedule: "0 8 * * *", duration: 14h}]
)",
    .check = whenempty_still_disrupts::check,
};

}  // namespace capstan::lint
