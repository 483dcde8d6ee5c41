#include <fmt/format.h>

#include <algorithm>

#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace pool_label_restricted {
namespace {

/// Returns true for a label that Karpenter or the kubelet sets itself and that no pool may state.
bool is_restricted(std::string_view key) {
  constexpr std::string_view kDomain = "karpenter.sh";
  if (key == "kubernetes.io/hostname") return true;
  const std::string_view domain = key.substr(0, key.find('/'));
  return domain.size() < key.size() && domain.ends_with(kDomain) && key != "karpenter.sh/capacity-type";
}

std::string refusal(const Subject& s, std::string_view key) {
  return fmt::format("the API server refuses pool {}: no pool may set {}", s.object.name, key);
}

void check(const Subject& s) {
  const std::optional<Pool> pool = pool_of(s.object);
  if (!pool || s.object.kind != "NodePool" || s.object.version != "v1" || s.object.name.empty()) return;
  for (const Value& label : (*pool->metadata)["labels"].children()) {
    if (is_restricted(label.key)) s.report_key(label, refusal(s, label.key));
  }
  for (const Value& requirement : (*pool->node)["requirements"].children()) {
    const Value& key = requirement["key"];
    if (is_restricted(key.text)) s.report(key, refusal(s, key.text));
  }
}

}  // namespace
}  // namespace pool_label_restricted

extern const Rule rule_pool_label_restricted;
const Rule rule_pool_label_restricted = {
    .id = "pool-label-restricted",
    .severity = Severity::error,
    .kinds = "@pool",
    .title = "a pool sets a label that belongs to Karpenter",
    .why =
        "The API server refuses the pool, so Karpenter launches no node for it. Karpenter sets karpenter.sh/nodepool "
        "to the name of the pool, and the kubelet sets kubernetes.io/hostname.",
    .fix = "delete the label; pods can select karpenter.sh/nodepool without it",
    .source = "Karpenter's CustomResourceDefinition of NodePool",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  template:
    metadata: {labels: {karpenter.sh/nodepool: gpu, team: chat}}
    spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}, requirements: []}
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  template:
    metadata: {labels: {team: chat}}
    spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}, requirements: []}
)",
    .check = pool_label_restricted::check,
};

}  // namespace capstan::lint
