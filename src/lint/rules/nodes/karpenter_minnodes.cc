#include <fmt/format.h>

#include "lint/rule.h"

namespace capstan::lint {
namespace karpenter_minnodes {
namespace {

void check(const Subject& s) {
  for (const std::string_view path :
       {"spec", "spec.disruption", "spec.limits", "spec.template", "spec.template.spec"}) {
    for (const std::string_view key : {"minNodes", "minSize", "minCount"}) {
      const Value& unknown = at(s.object, path)[key];
      if (unknown)
        s.report_key(unknown, fmt::format("Karpenter has no field {}, so the pool scales down to zero nodes", key));
    }
  }
}

}  // namespace
}  // namespace karpenter_minnodes

extern const Rule rule_karpenter_minnodes;
const Rule rule_karpenter_minnodes = {
    .id = "karpenter-minnodes",
    .severity = Severity::error,
    .kinds = "NodePool",
    .title = "a NodePool has no field for a minimum number of nodes",
    .why = "The API server drops or refuses the field, and the pool scales down to zero nodes.",
    .fix = "use replicas for a static pool (alpha), balloon pods, a CapacityBuffer, or a minimum number of replicas",
    .source = "Karpenter nodepool.go",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec: {minNodes: 1}
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec: {limits: {nodes: 4}}
)",
    .check = karpenter_minnodes::check,
};

}  // namespace capstan::lint
