#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "lint/rule.h"
#include "manifest/fields.h"

namespace capstan::lint {
namespace pool_field_unknown {
namespace {

using Names = std::span<const std::string_view>;
using Moved = std::pair<std::string_view, std::string_view>;

constexpr std::string_view kPool[] = {"disruption", "limits", "replicas", "template", "weight"};
constexpr std::string_view kNode[] = {"expireAfter",   "nodeClassRef", "requirements",
                                      "startupTaints", "taints",       "terminationGracePeriod"};
constexpr std::string_view kClass[] = {"amiFamily",
                                       "amiSelectorTerms",
                                       "associatePublicIPAddress",
                                       "blockDeviceMappings",
                                       "capacityReservationSelectorTerms",
                                       "connectionTracking",
                                       "context",
                                       "cpuOptions",
                                       "detailedMonitoring",
                                       "instanceProfile",
                                       "instanceStorePolicy",
                                       "ipPrefixCount",
                                       "kubelet",
                                       "metadataOptions",
                                       "networkInterfaces",
                                       "placementGroupSelector",
                                       "role",
                                       "securityGroupSelectorTerms",
                                       "subnetSelectorTerms",
                                       "tags",
                                       "userData"};

/// Fields of other places or of earlier versions, with the field of v1 that has the same meaning.
constexpr Moved kMoved[] = {{"requirements", "spec.template.spec.requirements"},
                            {"taints", "spec.template.spec.taints"},
                            {"startupTaints", "spec.template.spec.startupTaints"},
                            {"nodeClassRef", "spec.template.spec.nodeClassRef"},
                            {"terminationGracePeriod", "spec.template.spec.terminationGracePeriod"},
                            {"labels", "spec.template.metadata.labels"},
                            {"annotations", "spec.template.metadata.annotations"},
                            {"consolidationPolicy", "spec.disruption.consolidationPolicy"},
                            {"consolidateAfter", "spec.disruption.consolidateAfter"},
                            {"budgets", "spec.disruption.budgets"},
                            {"consolidation", "spec.disruption.consolidationPolicy"},
                            {"ttlSecondsAfterEmpty", "spec.disruption.consolidateAfter"},
                            {"ttlSecondsUntilExpired", "spec.template.spec.expireAfter"},
                            {"providerRef", "spec.template.spec.nodeClassRef"},
                            {"kubelet", "spec.kubelet of the EC2NodeClass"},
                            {"kubeletConfiguration", "spec.kubelet of the EC2NodeClass"},
                            {"amiSelector", "spec.amiSelectorTerms"},
                            {"subnetSelector", "spec.subnetSelectorTerms"},
                            {"securityGroupSelector", "spec.securityGroupSelectorTerms"}};

/// Returns the intended field. Empty if no known field is similar, because a later version of Karpenter may have the
/// field. The rule expireafter-misplaced reports expireAfter.
std::string_view intended_field(std::string_view key, Names fields) {
  if (std::ranges::find(fields, key) != fields.end() || key == "expireAfter") return {};
  for (const auto& [name, field] : kMoved) {
    if (key == name) return field;
  }
  return manifest::did_you_mean(key, fields);
}

void check_fields(const Subject& s, std::string_view path, Names fields) {
  const Value& parent = at(s.object, path);
  if (!parent.is_mapping()) return;
  for (const Value& field : parent.children()) {
    const std::string_view intended = intended_field(field.key, fields);
    if (intended.empty()) continue;
    s.report_key(field, fmt::format("{} has no field {} in {}, so it is refused or silently dropped; did you mean {}?",
                                    s.object.kind, field.key, path, intended));
  }
}

void check(const Subject& s) {
  if (s.object.api_version == "karpenter.sh/v1" && s.object.kind == "NodePool") {
    check_fields(s, "spec", kPool);
    check_fields(s, "spec.template.spec", kNode);
  } else if (s.object.api_version == "karpenter.k8s.aws/v1" && s.object.kind == "EC2NodeClass") {
    check_fields(s, "spec", kClass);
  }
}

}  // namespace
}  // namespace pool_field_unknown

extern const Rule rule_pool_field_unknown;
const Rule rule_pool_field_unknown = {
    .id = "pool-field-unknown",
    .severity = Severity::error,
    .kinds = "NodePool EC2NodeClass",
    .title = "a NodePool or EC2NodeClass has a field that Karpenter does not know",
    .why =
        "kubectl refuses the field. Other clients drop it, and Karpenter uses its default: a pool without its "
        "requirements launches any instance type. Only version v1 is checked.",
    .fix = "use the field that the message names",
    .source = "Karpenter's CustomResourceDefinitions of NodePool and EC2NodeClass",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {nvidia.com/gpu: 8}
  requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [g6e]}]
  template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}}}
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {nvidia.com/gpu: 8}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}
      requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [g6e]}]
)",
    .check = pool_field_unknown::check,
};

}  // namespace capstan::lint
