#include <fmt/format.h>

#include "lint/rule.h"

namespace capstan::lint {
namespace nodeclassref_missing {
namespace {

void check(const Subject& s) {
  const Value& spec = at(s.object, "spec.template.spec");
  if (s.object.api_version != "karpenter.sh/v1" || !spec["requirements"].is_sequence() || spec["nodeClassRef"]) return;
  if (s.object.name.empty()) return;  // a pool without a name is partial
  s.report_key(spec, fmt::format("NodePool {} has no nodeClassRef, so the API server refuses it", s.object.name))
      .mark_absence();
}

}  // namespace
}  // namespace nodeclassref_missing

extern const Rule rule_nodeclassref_missing;
const Rule rule_nodeclassref_missing = {
    .id = "nodeclassref-missing",
    .severity = Severity::error,
    .kinds = "NodePool",
    .title = "a NodePool has no nodeClassRef",
    .why = "The API server refuses it, because Karpenter could not know the images and networks of its nodes.",
    .fix = "add nodeClassRef with group, kind and name",
    .source = "Karpenter documentation, NodePools",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec: {template: {spec: {requirements: []}}}
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec:
  template: {spec: {requirements: [], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}}}
)",
    .check = nodeclassref_missing::check,
};

}  // namespace capstan::lint
