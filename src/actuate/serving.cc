#include "actuate/serving.h"

#include <algorithm>

#include "kube/meta.h"

namespace capstan::actuate {
namespace {

using kube::is_terminating;
using kube::Json;
using kube::json_quote;
using Decision = Change::Decision;

constexpr std::string_view kRouterLabel = "capstan.dev/router-label";
constexpr std::string_view kDrainsItself = "capstan.dev/drains-itself";
constexpr std::string_view kDeletionCost = "controller.kubernetes.io/pod-deletion-cost";
/// Deletion cost of marked pods: below any value that a person would set. Kubernetes allows 32 bits.
constexpr std::string_view kDeleteFirst = "-1000000000";

std::string_view version_of(Json pod) { return pod["metadata"]["resourceVersion"].text(); }

/// Returns a merge patch of a pod. The patch has the UID, so that the server refuses it for another pod with this name.
Decision patch(const Ref& pod, Json now, const std::string& metadata) {
  const std::string body = R"({"metadata":{"uid":)" + json_quote(now["metadata"]["uid"].text()) + "," + metadata + "}}";
  return Decision::to_write(kube::merge_patch(pod.object, body, version_of(now)).value());
}

/// Returns a server-side apply of the gate, which does not touch the conditions of other managers.
Decision apply_gate(const Ref& pod, Json now, bool serving, kube::WallTime at) {
  const std::string body =
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":)" + json_quote(pod.object.name) + R"(,"namespace":)" +
      json_quote(pod.object.ns) + R"(,"uid":)" + json_quote(now["metadata"]["uid"].text()) + R"(,"resourceVersion":)" +
      json_quote(version_of(now)) + R"(},"status":{"conditions":[{"type":)" + json_quote(kServingGate) +
      R"(,"status":)" + (serving ? R"("True","reason":"Serving")" : R"("False","reason":"Draining")") +
      R"(,"lastTransitionTime":")" + kube::wall_time_seconds(at) + R"("}]}})";
  return Decision::to_write(kube::apply(pod.object, body, true, "status"));
}

/// Returns the status of the gate, or "" if it was never set.
std::string_view gate_of(Json pod) {
  std::string_view status;
  pod["status"]["conditions"].for_each([&](Json condition) {
    if (condition["type"].text() == kServingGate) status = condition["status"].text();
  });
  return status;
}

Decision decide_gate(const Ref& pod, Json now, bool serving, kube::WallTime at) {
  const std::string_view status = gate_of(now);
  return is_terminating(now) || status == (serving ? "True" : "False") ? Decision::settled()
                                                                       : apply_gate(pod, now, serving, at);
}

Decision decide_label(const Ref& pod, Json now, const std::string& label, bool serving) {
  const Json value = now["metadata"]["labels"][label];
  const Json stored_label = now["metadata"]["annotations"][kRouterLabelValue];
  const std::string annotation = json_quote(kRouterLabelValue);
  if (is_terminating(now) || (serving ? !stored_label.exists() : !value.exists())) return Decision::settled();
  const std::string label_value = serving ? json_quote(stored_label.text()) : "null";
  const std::string annotation_value = serving ? "null" : json_quote(value.text());
  return patch(pod, now,
               R"("labels":{)" + json_quote(label) + ":" + label_value + R"(},"annotations":{)" + annotation + ":" +
                   annotation_value + "}");
}

}  // namespace

DrainMeans drain_means_of(const kube::Workload& workload) {
  using Kind = DrainMeans::Kind;
  const kube::PodSpec& serving = workload.leader ? *workload.leader : workload.pod;
  if (std::ranges::find(serving.readiness_gates, kServingGate) != serving.readiness_gates.end()) {
    return {Kind::readiness_gate, {}};
  }
  const std::string* label = workload.meta.annotations.find(kRouterLabel);
  const bool selects_by_label =
      label != nullptr && (workload.selector.labels.has(*label) ||
                           std::ranges::find(workload.selector.expressions, *label, &kube::Requirement::key) !=
                               workload.selector.expressions.end());
  if (label != nullptr && !label->empty() && !selects_by_label) return {Kind::router_label, *label};
  return {workload.meta.annotations.get(kDrainsItself) == "true" ? Kind::engine : Kind::none, {}};
}

bool is_out_of_router(const kube::Pod& pod, const DrainMeans& means) {
  if (means.kind == DrainMeans::Kind::router_label) return pod.meta.annotations.has(kRouterLabelValue);
  const kube::Condition* gate = kube::find_condition(pod.conditions, kServingGate);
  return means.kind == DrainMeans::Kind::readiness_gate && gate != nullptr && gate->is_false;
}

Change set_serving(const Ref& pod, const DrainMeans& means, bool serving, kube::WallTime now) {
  return {pod, [pod, means, serving, now](Json object) {
            switch (means.kind) {
              case DrainMeans::Kind::readiness_gate:
                return decide_gate(pod, object, serving, now);
              case DrainMeans::Kind::router_label:
                return decide_label(pod, object, means.label, serving);
              case DrainMeans::Kind::none:
              case DrainMeans::Kind::engine:
                break;
            }
            return Decision::settled();
          }};
}

Change open_gate(const Ref& pod, kube::WallTime now) {
  return {pod, [pod, now](Json object) {
            const bool open = gate_of(object).empty() && !is_terminating(object);
            return open ? apply_gate(pod, object, true, now) : Decision::settled();
          }};
}

Change mark_for_deletion(const Ref& pod, bool marked) {
  return {pod, [pod, marked](Json object) {
            const bool is_marked = object["metadata"]["annotations"][kDeletionCost].text() == kDeleteFirst;
            if (is_terminating(object) || is_marked == marked) return Decision::settled();
            const std::string cost = marked ? json_quote(kDeleteFirst) : "null";
            return patch(pod, object, R"("annotations":{)" + json_quote(kDeletionCost) + ":" + cost + "}");
          }};
}

}  // namespace capstan::actuate
