#include <fmt/format.h>

#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace balloon_invalid {
namespace {

bool is_pause(std::string_view image) { return image.find("/pause:") != image.npos || image.starts_with("pause:"); }

/// Returns true if the name shows that the object makes balloon pods. The pause image alone does not show it, because
/// examples also use this image in place of a workload.
bool is_called_balloon(const Object& object) {
  for (const std::string_view word : {"balloon", "overprovision", "over-provision", "holder", "headroom", "buffer",
                                      "warm", "spare", "reserve", "pause"}) {
    if (object.name.find(word) != object.name.npos) return true;
  }
  return false;
}

/// Returns the first defect of a balloon pod; empty if there is none.
std::string defect_of(const Subject& s, const Pod& pod) {
  if (!s.object["spec"]["selector"]) return "has no selector, so the API server refuses it";
  const Value& name = (*pod.spec)["priorityClassName"];
  if (!name && !(*pod.spec)["priority"] && is_called_balloon(s.object))
    return "has no PriorityClass, so no pod may evict it";
  if (const Object* priority = name ? s.set.find("PriorityClass", name.text, s.object) : nullptr) {
    const auto value = (*priority)["value"].integer();
    if (value && *value >= 0)
      return fmt::format("has priority {}, so pods without a PriorityClass do not evict it", *value);
  }
  return "";
}

void check(const Subject& s) {
  for (const auto& [pod, container] : gpu_pods_of(s.object)) {
    if (!is_pause(container["image"].text)) continue;
    const std::string fault = defect_of(s, pod);
    if (fault.empty()) continue;
    Finding& finding = s.report_object("this balloon pod " + fault);
    if (fault.find("refuses") == fault.npos) finding.set_severity(Severity::warning);
    if (fault.starts_with("has no")) finding.mark_absence();
  }
}

}  // namespace
}  // namespace balloon_invalid

extern const Rule rule_balloon_invalid;
const Rule rule_balloon_invalid = {
    .id = "balloon-invalid",
    .severity = Severity::error,
    .kinds = "Deployment",
    .title = "the balloon pods do not keep a GPU free",
    .why =
        "Balloon pods keep a GPU warm and must make room for a real pod at once. Without a selector the API server "
        "refuses the Deployment. With priority 0 or above pods without a PriorityClass do not evict them, which is a "
        "warning. With the default grace period they "
        "hold the GPU for another 30 s.",
    .fix =
        "set selector and labels, a toleration, limits, a PriorityClass below 0 and terminationGracePeriodSeconds 0; "
        "or use a CapacityBuffer",
    .source = "Cluster Autoscaler FAQ, overprovisioning",
    .bad = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: gpu-overprovisioner}
spec:
  replicas: 2
  template:
    spec:
      containers: [{name: pause, image: "registry.k8s.io/pause:3.10", resources: {limits: {nvidia.com/gpu: 1}}}]
)",
    .good = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: gpu-overprovisioner}
spec:
  replicas: 2
  selector: {matchLabels: {app: balloon}}
  template:
    metadata: {labels: {app: balloon}}
    spec:
      priorityClassName: balloon
      terminationGracePeriodSeconds: 0
      tolerations: [{key: nvidia.com/gpu, operator: Exists}]
      containers: [{name: pause, image: "registry.k8s.io/pause:3.10", resources: {limits: {nvidia.com/gpu: 1}}}]
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: balloon}
value: -10
)",
    .check = balloon_invalid::check,
};

}  // namespace capstan::lint
