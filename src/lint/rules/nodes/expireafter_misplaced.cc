#include <fmt/format.h>

#include "lint/rule.h"

namespace capstan::lint {
namespace expireafter_misplaced {
namespace {

void check(const Subject& s) {
  if (s.object.api_version != "karpenter.sh/v1") return;
  for (const std::string_view path : {"spec.disruption", "spec"}) {
    const Value& wrong = at(s.object, path)["expireAfter"];
    if (wrong)
      s.report_key(wrong, fmt::format("{}.expireAfter is not seen by v1, which has it in spec.template.spec", path));
  }
}

}  // namespace
}  // namespace expireafter_misplaced

extern const Rule rule_expireafter_misplaced;
const Rule rule_expireafter_misplaced = {
    .id = "expireafter-misplaced",
    .severity = Severity::error,
    .kinds = "NodePool",
    .title = "expireAfter is not where Karpenter looks for it",
    .why =
        "In v1 it belongs to the template; here the API server drops or refuses it, and nodes end after the default of "
        "30 days.",
    .fix = "spec.template.spec.expireAfter",
    .source = "Karpenter upgrade guide, v1",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec: {disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 1h, expireAfter: 720h}}
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  template: {spec: {expireAfter: 720h}}
  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 1h}
)",
    .check = expireafter_misplaced::check,
};

}  // namespace capstan::lint
