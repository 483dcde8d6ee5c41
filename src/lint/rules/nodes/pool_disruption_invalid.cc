#include <fmt/format.h>

#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace pool_disruption_invalid {
namespace {

/// The policy for underutilized nodes has another name in each version of the API.
struct PolicyName {
  std::string_view version, wrong, right;
};
constexpr PolicyName kPolicies[] = {{"v1", "WhenUnderutilized", "WhenEmptyOrUnderutilized"},
                                    {"v1beta1", "WhenEmptyOrUnderutilized", "WhenUnderutilized"}};

void check_policy(const Subject& s, const Value& policy) {
  for (const PolicyName& name : kPolicies) {
    if (s.object.version != name.version || !policy.is(name.wrong)) continue;
    s.report(policy, fmt::format("karpenter.sh/{} has no consolidationPolicy {}, so the API server refuses pool {}",
                                 name.version, name.wrong, s.object.name))
        .suggest(fmt::format("use WhenEmpty; karpenter.sh/{} calls the other policy {}", name.version, name.right));
  }
}

void check(const Subject& s) {
  const std::optional<Pool> pool = pool_of(s.object);
  if (!pool || s.object.kind != "NodePool" || s.object.name.empty()) return;
  const Value& disruption = (*pool->spec)["disruption"];
  if (!disruption.is_mapping()) return;
  const Value& policy = disruption["consolidationPolicy"];
  check_policy(s, policy);
  if (disruption["consolidateAfter"]) return;
  const bool is_required = s.object.version == "v1" || (s.object.version == "v1beta1" && policy.is("WhenEmpty"));
  if (!is_required) return;
  s.report_key(
       disruption,
       fmt::format("the disruption of pool {} has no consolidateAfter, so the API server refuses it", s.object.name))
      .mark_absence();
}

}  // namespace
}  // namespace pool_disruption_invalid

extern const Rule rule_pool_disruption_invalid;
const Rule rule_pool_disruption_invalid = {
    .id = "pool-disruption-invalid",
    .severity = Severity::error,
    .kinds = "@pool",
    .title = "Karpenter's API refuses the disruption block of a pool",
    .why =
        "The API server refuses the pool, so Karpenter launches no node for it, or keeps the settings of an earlier "
        "version. karpenter.sh/v1 renamed WhenUnderutilized to WhenEmptyOrUnderutilized, and its disruption block "
        "requires consolidateAfter. karpenter.sh/v1beta1 requires it for WhenEmpty.",
    .fix = "set consolidationPolicy to WhenEmpty, with a consolidateAfter of 10 min to 1 h",
    .source = "Karpenter's CustomResourceDefinition of NodePool",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: cpu}
spec:
  disruption:
    consolidationPolicy: WhenUnderutilized
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: cpu}
spec:
  disruption:
    consolidationPolicy: WhenEmpty
    consolidateAfter: 1h
)",
    .check = pool_disruption_invalid::check,
};

}  // namespace capstan::lint
