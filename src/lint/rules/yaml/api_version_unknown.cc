#include <fmt/format.h>

#include "lint/rule.h"

namespace capstan::lint {
namespace api_version_unknown {
namespace {

void check(const Subject& s) {
  const IntendedApi& meant = s.object.intended_api;
  if (meant.api_version.empty()) return;
  const Value& value = s.object["apiVersion"];
  const std::string_view group = s.object.group.empty() ? "the core group" : s.object.group;
  Finding& finding = s.report(value, meant.is_group_wrong
                                         ? fmt::format("no kind {} in {}{}, expected {}", s.object.kind,
                                                       s.object.group.empty() ? "" : "group ", group, meant.api_version)
                                         : fmt::format("no version {} of {} in {}, expected {}", s.object.version,
                                                       s.object.kind, group, meant.api_version));
  finding.replace(value, meant.api_version);
  // A later release of another product may have another version.
  if (!meant.is_group_wrong && meant.product != "Kubernetes") finding.set_severity(Severity::warning);
}

}  // namespace
}  // namespace api_version_unknown

extern const Rule rule_api_version_unknown;
const Rule rule_api_version_unknown = {
    .id = "api-version-unknown",
    .severity = Severity::error,
    .kinds = "*",
    .title = "the group or the version of an object does not exist",
    .why =
        "The API server refuses the object: it has no kind of this name in the group. A group without a dot is always "
        "one of Kubernetes. A group with a dot may belong to another product, so it is reported only if it resembles "
        "the known group of the kind. The other rules check the object as one of the expected version. An unknown "
        "version of KEDA or Karpenter is a warning, because a later release may have it.",
    .fix = "write the version that the message names",
    .fix_safety = FixSafety::unsafe,
    .source = "the API groups of Kubernetes and of each product (data/lint/api_groups.csv)",
    .bad = R"(apiVersion: app/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec: {containers: [{name: a, image: "nginx:1.29"}]}
)",
    .good = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec: {containers: [{name: a, image: "nginx:1.29"}]}
)",
    .check = api_version_unknown::check,
};

}  // namespace capstan::lint
