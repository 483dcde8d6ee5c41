#include <fmt/format.h>

#include "lint/rule.h"

namespace capstan::lint {
namespace provisioner_no_provider {
namespace {

void check(const Subject& s) {
  const Value& spec = s.object["spec"];
  if (s.object.api_version != "karpenter.sh/v1alpha5" || !spec.is_mapping() || s.object.name.empty()) return;
  if (spec.has("provider") || spec.has("providerRef")) return;
  if (!spec["requirements"]) return;  // a patch of another file's object
  s.report_object(fmt::format("Provisioner {} has neither provider nor providerRef, so Karpenter does not know the "
                              "subnets and images of its nodes",
                              s.object.name))
      .mark_absence();
}

}  // namespace
}  // namespace provisioner_no_provider

extern const Rule rule_provisioner_no_provider;
const Rule rule_provisioner_no_provider = {
    .id = "provisioner-no-provider",
    .severity = Severity::error,
    .kinds = "Provisioner",
    .title = "a Provisioner names no provider",
    .why =
        "The webhook of Karpenter refuses it. Versions before 0.24 accept it and then fail when they look up the "
        "subnets, so no pool launches a node.",
    .fix = "add providerRef with the name of an AWSNodeTemplate, or replace the Provisioner by a NodePool",
    .source = "kubernetes-sigs/karpenter#201 and aws/karpenter-provider-aws#3343",
    .bad = R"(apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: gpu}
spec: {requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [g5]}]}
)",
    .good = R"(apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: gpu}
spec:
  providerRef: {name: gpu}
  requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [g5]}]
)",
    .check = provisioner_no_provider::check,
};

}  // namespace capstan::lint
