#include <fmt/format.h>

#include "lint/facts.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace provisioner_ttl_and_consolidation {
namespace {

void check(const Subject& s) {
  const RemovedApi* api = removed_api(s.object.api_version, s.object.kind);
  if (api != nullptr && api->removed_in == "never") return;  // no webhook ever reads this version
  const Value& ttl = s.object["spec"]["ttlSecondsAfterEmpty"];
  if (!ttl || !at(s.object, "spec.consolidation.enabled").is("true")) return;
  s.report(ttl,
           fmt::format("the webhook refuses ttlSecondsAfterEmpty {} together with consolidation.enabled", ttl.text));
}

}  // namespace
}  // namespace provisioner_ttl_and_consolidation

extern const Rule rule_provisioner_ttl_and_consolidation;
const Rule rule_provisioner_ttl_and_consolidation = {
    .id = "provisioner-ttl-and-consolidation",
    .severity = Severity::error,
    .kinds = "Provisioner",
    .title = "ttlSecondsAfterEmpty and consolidation exclude each other",
    .why = "The webhook refuses a Provisioner with both.",
    .fix = "keep one of them; for GPUs ttlSecondsAfterEmpty",
    .source = "Karpenter v0.16 and later",
    .bad = R"(apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: a}
spec: {ttlSecondsAfterEmpty: 300, consolidation: {enabled: true}}
)",
    .good = R"(apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: a}
spec: {ttlSecondsAfterEmpty: 300}
)",
    .check = provisioner_ttl_and_consolidation::check,
};

}  // namespace capstan::lint
