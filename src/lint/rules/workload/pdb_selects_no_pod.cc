#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/ascii.h"
#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace pdb_selects_no_pod {
namespace {

/// Returns the letters and digits of a label's value, in lower case: "llama8b" for "Llama-8B".
std::string letters_of(std::string_view value) {
  std::string letters;
  for (const char c : value) {
    if (c != '-' && c != '_' && c != '.') letters += ascii_lower(c);
  }
  return letters;
}

/// Returns true if the longer text is the shorter one with one further letter.
bool has_one_letter_more(std::string_view longer, std::string_view shorter) {
  constexpr std::size_t kShortest = 4;  // the names of two models may differ by one letter if they are shorter
  if (shorter.size() < kShortest || longer.size() != shorter.size() + 1) return false;
  const auto [further, rest] = std::ranges::mismatch(longer, shorter);
  const bool is_digit = *further >= '0' && *further <= '9';
  return !is_digit && std::string_view(further + 1, longer.end()) == std::string_view(rest, shorter.end());
}

/// Returns true if one value is probably a misspelling of the other. Different numbers are different models.
bool is_misspelt(std::string_view value, std::string_view meant) {
  const std::string a = letters_of(value), b = letters_of(meant);
  return a == b || has_one_letter_more(a, b) || has_one_letter_more(b, a);
}

/// Returns the first label of a selector that the pods of a workload have with another spelling; null if the pods lack
/// a label of the selector altogether.
const Value* misspelt_label(const Value& selector, const Value& labels) {
  const Value* misspelt = nullptr;
  for (const Value& wanted : selector.children()) {
    const Value& label = labels[wanted.key];
    if (label.is(wanted.text)) continue;
    if (label.text.empty() || is_template_variable(wanted.text) || !is_misspelt(wanted.text, label.text))
      return nullptr;
    if (misspelt == nullptr) misspelt = &wanted;
  }
  return misspelt;
}

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
      wanted = misspelt_label(selector, labels);
      if (wanted != nullptr) nearest = workload;
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
