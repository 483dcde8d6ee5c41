#include <fmt/format.h>

#include "lint/rule.h"

namespace capstan::lint {
namespace expireafter_misplaced {
namespace {

void check(const Subject& s) {
  if (s.object.api_version != "karpenter.sh/v1") return;
  for (const std::string_view path : {"spec.disruption", "spec"}) {
    const Value& misplaced = at(s.object, path)["expireAfter"];
    if (misplaced)
      s.report_key(misplaced,
                   fmt::format("v1 ignores {}.expireAfter, because the field belongs in spec.template.spec", path));
  }
}

}  // namespace
}  // namespace expireafter_misplaced

extern const Rule rule_expireafter_misplaced;
const Rule rule_expireafter_misplaced = {
    .id = "expireafter-misplaced",
    .severity = Severity::error,
    .kinds = "NodePool",
    .title = "expireAfter is in the wrong place",
    .why =
        "In v1 the field belongs in the template. Elsewhere the API server drops or refuses it, and nodes expire after "
        "the default of 30 days.",
    .fix = "move it to spec.template.spec.expireAfter",
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
