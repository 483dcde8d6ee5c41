#include <fmt/format.h>

#include "lint/rule.h"

namespace capstan::lint {
namespace nodeclass_kind_unknown {
namespace {

void check(const Subject& s) {
  if (s.object.group != "karpenter.sh" && s.object.group != "karpenter.k8s.aws") return;
  s.report(s.object["kind"],
           fmt::format("{} has no kind NodeClass, so the API server refuses the object", s.object.group));
}

}  // namespace
}  // namespace nodeclass_kind_unknown

extern const Rule rule_nodeclass_kind_unknown;
const Rule rule_nodeclass_kind_unknown = {
    .id = "nodeclass-kind-unknown",
    .severity = Severity::error,
    .kinds = "NodeClass",
    .title = "Karpenter has no kind NodeClass",
    .why =
        "The kind is called EC2NodeClass on AWS. Only EKS Auto Mode has a NodeClass, in the group eks.amazonaws.com. "
        "Without the class Karpenter launches no node for the pools that refer to it.",
    .fix = "use karpenter.k8s.aws/v1 EC2NodeClass, or eks.amazonaws.com/v1 NodeClass in EKS Auto Mode",
    .source = "Karpenter documentation, NodeClasses; EKS documentation, Auto Mode",
    .bad = R"(apiVersion: karpenter.k8s.aws/v1
kind: NodeClass
metadata: {name: gpu}
spec: {role: nodes}
)",
    .good = R"(apiVersion: eks.amazonaws.com/v1
kind: NodeClass
metadata: {name: gpu}
spec: {role: nodes}
)",
    .check = nodeclass_kind_unknown::check,
};

}  // namespace capstan::lint
