#include <fmt/format.h>

#include <algorithm>

#include "lint/facts.h"
#include "lint/rule.h"
#include "lint/serving.h"

namespace capstan::lint {
namespace priorityclass_undefined {
namespace {

/// Returns true for balloon pods, which need their own PriorityClass. Other pods may use a PriorityClass of the
/// cluster.
bool is_balloon(const Subject& s, const Pod& pod) {
  return is_placeholder(s.object, pod) && std::ranges::all_of(containers_of(pod), [](const Value* container) {
           return (*container)["image"].text.find("pause") != std::string_view::npos;
         });
}

void check(const Subject& s) {
  for (const Pod& pod : pods_of(s.object)) {
    const Value& name = (*pod.spec)["priorityClassName"];
    if (!name || !priority_class_of(name.text).empty()) continue;
    if (!is_balloon(s, pod) && !s.set.is_complete()) continue;
    if (s.set.find("PriorityClass", name.text, s.object) != nullptr) continue;
    Finding& finding = s.report(name, fmt::format("the input has no PriorityClass {}", name.text));
    if (!s.set.is_complete()) finding.set_severity(Severity::info);  // the cluster may have it
  }
}

}  // namespace
}  // namespace priorityclass_undefined

extern const Rule rule_priorityclass_undefined;
const Rule rule_priorityclass_undefined = {
    .id = "priorityclass-undefined",
    .severity = Severity::warning,
    .kinds = "@pods",
    .title = "the PriorityClass is not in the input",
    .why =
        "Without it the API server refuses the pods, so they do not run at all. The finding is advice unless the input "
        "is the whole cluster (--closed-world).",
    .fix = "add the PriorityClass to the same folder",
    .source = "Kubernetes documentation, pod priority",
    .bad = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {priorityClassName: overprovisioning, containers: [{name: pause, image: "registry.k8s.io/pause:3.10"}]}
)",
    .good = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  priorityClassName: system-cluster-critical
  containers: [{name: pause, image: "registry.k8s.io/pause:3.10"}]
)",
    .check = priorityclass_undefined::check,
};

}  // namespace capstan::lint
