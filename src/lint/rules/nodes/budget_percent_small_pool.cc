#include <fmt/format.h>

#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace budget_percent_small_pool {
namespace {

void check(const Subject& s) {
  const std::optional<Pool> pool = gpu_pool_of(s.object);
  if (!pool || (*pool->limits)["nvidia.com/gpu"].integer().value_or(1000) > 72) return;
  for (const Value& budget : at(*pool->spec, "disruption.budgets").children()) {
    const Value& nodes = budget["nodes"];
    if (!nodes.text.ends_with('%') || nodes.is("0%")) continue;
    s.report(nodes, fmt::format("{} of a pool with at most {} GPUs is rounded up to at least one node", nodes.text,
                                (*pool->limits)["nvidia.com/gpu"].text));
  }
}

}  // namespace
}  // namespace budget_percent_small_pool

extern const Rule rule_budget_percent_small_pool;
const Rule rule_budget_percent_small_pool = {
    .id = "budget-percent-small-pool",
    .severity = Severity::info,
    .kinds = "NodePool",
    .title = "a budget in percent allows at least one node, even in a small pool",
    .why = "Percentages are rounded up, so 10 % of three nodes is one node.",
    .fix = "set nodes to \"0\" in busy hours, or to a number",
    .source = "Karpenter documentation, disruption budgets",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {nvidia.com/gpu: 16}
  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 1h, budgets: [{nodes: 10%}]}
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {nvidia.com/gpu: 16}
  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 1h, budgets: [{nodes: "0"}]}
)",
    .check = budget_percent_small_pool::check,
};

}  // namespace capstan::lint
