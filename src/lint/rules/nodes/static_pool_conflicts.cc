#include <fmt/format.h>

#include "lint/rule.h"

namespace capstan::lint {
namespace static_pool_conflicts {
namespace {

void check(const Subject& s) {
  const Value& spec = s.object["spec"];
  if (!spec["replicas"]) return;
  if (spec["weight"]) s.report_key(spec["weight"], "a pool with replicas must not have weight");
  for (const Value& limit : spec["limits"].children()) {
    if (limit.key != "nodes")
      s.report_key(limit, fmt::format("a pool with replicas must not have a limit of {}", limit.key));
  }
}

}  // namespace
}  // namespace static_pool_conflicts

extern const Rule rule_static_pool_conflicts;
const Rule rule_static_pool_conflicts = {
    .id = "static-pool-conflicts",
    .severity = Severity::error,
    .kinds = "NodePool",
    .title = "a static pool has fields that it must not have",
    .why = "With replicas, the API server refuses weight and every limit except nodes.",
    .fix = "delete weight and the other limits",
    .source = "Karpenter nodepool.go, validation rules",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec: {replicas: 2, weight: 10}
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec: {replicas: 2, limits: {nodes: 3}}
)",
    .check = static_pool_conflicts::check,
};

}  // namespace capstan::lint
