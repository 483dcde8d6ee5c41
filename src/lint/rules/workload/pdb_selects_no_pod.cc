#include <fmt/format.h>

#include "lint/pods.h"
#include "lint/rule.h"
#include "lint/selector.h"

namespace capstan::lint {
namespace pdb_selects_no_pod {
namespace {

void check(const Subject& s) {
  const Value& selector = at(s.object, "spec.selector.matchLabels");
  if (selector.count == 0 || at(s.object, "spec.selector.matchExpressions").count > 0) return;
  const Object* nearest = nullptr;
  const Value* wanted = nullptr;  // label of the selector that `nearest` spells in another way
  for (const std::string_view kind : {"Deployment", "StatefulSet"}) {
    for (const Object* workload : s.set.in_folder(kind, s.object)) {
      if (!may_share_namespace(*workload, s.object)) continue;
      const Value& labels = at(*workload, "spec.template.metadata.labels");
      if (selects(selector, labels)) return;
      if (wanted != nullptr) continue;
      const LabelDifference difference = compare_labels(selector, labels);
      if (!difference.is_only_misspelt()) continue;
      wanted = difference.first;
      nearest = workload;
    }
  }
  if (nearest == nullptr) return;
  const std::string_view meant = at(*nearest, "spec.template.metadata.labels")[wanted->key].text;
  Finding& finding = s.report(*wanted, fmt::format("the selector matches no pod of the input, and the pods of {} have "
                                                   "{}: {}",
                                                   nearest->title(), wanted->key, meant));
  finding.replace(*wanted, meant);
  s.require_object(finding, *nearest, nearest->name);
}

}  // namespace
}  // namespace pdb_selects_no_pod

extern const Rule rule_pdb_selects_no_pod;
const Rule rule_pdb_selects_no_pod = {
    .id = "pdb-selects-no-pod",
    .severity = Severity::warning,
    .kinds = "PodDisruptionBudget",
    .title = "a disruption budget selects no pod because its label is misspelt",
    .why =
        "A budget that selects no pod protects none, and Kubernetes does not report it. A drain may then end all "
        "replicas at once.",
    .fix = "write the label as the pods have it",
    .fix_safety = FixSafety::unsafe,
    .source = "Kubernetes documentation, disruptions",
    .bad = R"(apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: llama}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: llama-8b}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: llama}
spec:
  selector: {matchLabels: {app: llama8b}}
  template: {metadata: {labels: {app: llama8b}}, spec: {containers: [{name: a, image: "a:1"}]}}
)",
    .good = R"(apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: llama}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: llama8b}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: llama}
spec:
  selector: {matchLabels: {app: llama8b}}
  template: {metadata: {labels: {app: llama8b}}, spec: {containers: [{name: a, image: "a:1"}]}}
)",
    .check = pdb_selects_no_pod::check,
};

}  // namespace capstan::lint
