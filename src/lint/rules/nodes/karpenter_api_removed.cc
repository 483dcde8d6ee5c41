#include <fmt/format.h>

#include "lint/facts.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace karpenter_api_removed {
namespace {

void check(const Subject& s) {
  const RemovedApi* api = removed_api(s.object.api_version, s.object.kind);
  if (api == nullptr) return;
  const std::string message =
      api->removed_in == "never"
          ? fmt::format("no release of Karpenter has {} {}", api->api_version, api->kind)
          : fmt::format("{} {} was removed in Karpenter {}", api->api_version, api->kind, api->removed_in);
  s.report(s.object["apiVersion"], message).suggest(std::string(api->instead));
}

}  // namespace
}  // namespace karpenter_api_removed

extern const Rule rule_karpenter_api_removed;
const Rule rule_karpenter_api_removed = {
    .id = "karpenter-api-removed",
    .severity = Severity::error,
    .kinds = "NodePool NodeClaim EC2NodeClass Provisioner AWSNodeTemplate Machine",
    .title = "this version of Karpenter's API was removed",
    .why = "The cluster does not know the object, so Karpenter launches no node for it.",
    .fix = "use karpenter.sh/v1 NodePool and karpenter.k8s.aws/v1 EC2NodeClass",
    .source = "Karpenter upgrade guides",
    .bad = R"(apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: a}
spec: {requirements: []}
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec: {template: {spec: {requirements: []}}}
)",
    .check = karpenter_api_removed::check,
};

}  // namespace capstan::lint
