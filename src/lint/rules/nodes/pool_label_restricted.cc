#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "lint/pools.h"
#include "lint/rule.h"
#include "manifest/fields.h"

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

/// Returns true for a label of Kubernetes that the API server refuses in version v1beta1. Later versions of Karpenter
/// accept such labels.
bool is_restricted_in_beta(std::string_view key) {
  constexpr std::string_view kAllowed[] = {"beta.kubernetes.io/instance-type",
                                           "failure-domain.beta.kubernetes.io/region",
                                           "failure-domain.beta.kubernetes.io/zone",
                                           "beta.kubernetes.io/os",
                                           "beta.kubernetes.io/arch",
                                           "topology.kubernetes.io/zone",
                                           "topology.kubernetes.io/region",
                                           "kubernetes.io/arch",
                                           "kubernetes.io/os"};
  const std::string_view domain = key.substr(0, key.find('/'));
  if (domain.size() == key.size() || std::ranges::find(kAllowed, key) != std::end(kAllowed)) return false;
  if (domain.ends_with("kubernetes.io"))
    return !domain.ends_with("node.kubernetes.io") && !domain.ends_with("node-restriction.kubernetes.io");
  return domain.ends_with("k8s.io") && !domain.ends_with("kops.k8s.io");
}

/// Returns the label that is meant by an unknown label in the domain of Karpenter's provider for AWS. Returns an empty
/// name if the label is known. Also returns an empty name if no known label is similar, because a later version may
/// have the label.
std::string_view intended_label(std::string_view key) {
  constexpr std::string_view kDomain = "karpenter.k8s.aws/";
  constexpr std::string_view kKnown[] = {"capacity-reservation-id",
                                         "capacity-reservation-interruptible",
                                         "capacity-reservation-type",
                                         "ec2nodeclass",
                                         "instance-accelerator-count",
                                         "instance-accelerator-manufacturer",
                                         "instance-accelerator-name",
                                         "instance-capability-flex",
                                         "instance-category",
                                         "instance-cpu",
                                         "instance-cpu-manufacturer",
                                         "instance-cpu-sustained-clock-speed-mhz",
                                         "instance-ebs-bandwidth",
                                         "instance-encryption-in-transit-supported",
                                         "instance-family",
                                         "instance-generation",
                                         "instance-gpu-count",
                                         "instance-gpu-manufacturer",
                                         "instance-gpu-memory",
                                         "instance-gpu-name",
                                         "instance-hypervisor",
                                         "instance-local-nvme",
                                         "instance-memory",
                                         "instance-network-bandwidth",
                                         "instance-size",
                                         "instance-tenancy",
                                         "nitro-sandbox",
                                         "placement-group-id",
                                         "placement-group-partition"};
  if (!key.starts_with(kDomain)) return {};
  const std::string_view name = key.substr(kDomain.size());
  if (std::ranges::find(kKnown, name) != std::end(kKnown)) return {};
  if (name == "instance-type") return "node.kubernetes.io/instance-type";
  if (name == "capacity-type") return "karpenter.sh/capacity-type";
  if (name == "zone") return "topology.kubernetes.io/zone";
  return manifest::did_you_mean(name, kKnown);
}

std::string refusal(const Subject& s, std::string_view key) {
  return fmt::format("the API server refuses pool {}: no pool may set {}", s.object.name, key);
}

void check(const Subject& s) {
  const std::optional<Pool> pool = pool_of(s.object);
  if (!pool || s.object.kind != "NodePool" || s.object.name.empty()) return;
  const bool is_beta = s.object.version == "v1beta1";
  if (!is_beta && s.object.version != "v1") return;
  const auto is_refused = [&](std::string_view key) {
    return is_restricted(key) || (is_beta && is_restricted_in_beta(key));
  };
  for (const Value& label : (*pool->metadata)["labels"].children()) {
    if (is_refused(label.key)) s.report_key(label, refusal(s, label.key));
  }
  for (const Value& requirement : (*pool->node)["requirements"].children()) {
    const Value& key = requirement["key"];
    const std::string_view intended = intended_label(key.text);
    if (is_refused(key.text)) s.report(key, refusal(s, key.text));
    if (!intended.empty()) {
      s.report(key, fmt::format("the API server refuses pool {}: Karpenter has no label {}; did you mean {}?",
                                s.object.name, key.text, intended));
    }
  }
}

}  // namespace
}  // namespace pool_label_restricted

extern const Rule rule_pool_label_restricted;
const Rule rule_pool_label_restricted = {
    .id = "pool-label-restricted",
    .severity = Severity::error,
    .kinds = "@pool",
    .title = "a pool sets a label that Karpenter does not allow",
    .why =
        "The API server refuses the pool, so Karpenter launches no node for it. Karpenter sets karpenter.sh/nodepool "
        "to the name of the pool, and the kubelet sets kubernetes.io/hostname. Version v1beta1 also refuses other "
        "labels of kubernetes.io, and all versions refuse unknown labels of karpenter.k8s.aws.",
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
