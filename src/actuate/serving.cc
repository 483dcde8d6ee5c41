#include "actuate/serving.h"

#include <algorithm>

namespace capstan::actuate {
namespace {

using kube::Json;
using kube::json_quote;
using Wish = Change::Wish;

constexpr std::string_view kRouterLabel = "capstan.dev/router-label";
constexpr std::string_view kDrainsItself = "capstan.dev/drains-itself";
constexpr std::string_view kDeletionCost = "controller.kubernetes.io/pod-deletion-cost";
/// Below any that a person gives; the range is that of 32 bits.
constexpr std::string_view kFirstToGo = "-1000000000";

bool ends(Json pod) { return pod["metadata"]["deletionTimestamp"].exists(); }
std::string_view version_of(Json pod) { return pod["metadata"]["resourceVersion"].text(); }

/// A merge patch that is refused for another object of that name.
Wish patch(const Ref& pod, Json now, const std::string& metadata) {
  const std::string body = R"({"metadata":{"uid":)" + json_quote(now["metadata"]["uid"].text()) + "," + metadata + "}}";
  return Wish::make(kube::merge_patch(pod.object, body, version_of(now)).value());
}

/// Server-side apply: the conditions of others stay theirs.
Wish apply_gate(const Ref& pod, Json now, bool serving, kube::WallTime at) {
  const std::string body =
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":)" + json_quote(pod.object.name) + R"(,"namespace":)" +
      json_quote(pod.object.ns) + R"(,"uid":)" + json_quote(now["metadata"]["uid"].text()) + R"(,"resourceVersion":)" +
      json_quote(version_of(now)) + R"(},"status":{"conditions":[{"type":)" + json_quote(kServingGate) +
      R"(,"status":)" + (serving ? R"("True","reason":"Serving")" : R"("False","reason":"Draining")") +
      R"(,"lastTransitionTime":")" + kube::wall_time_seconds(at) + R"("}]}})";
  return Wish::make(kube::apply(pod.object, body, true, "status"));
}

/// Empty where nobody has set it.
std::string_view gate_of(Json pod) {
  std::string_view status;
  pod["status"]["conditions"].each([&](Json condition) {
    if (condition["type"].text() == kServingGate) status = condition["status"].text();
  });
  return status;
}

Wish look_at_gate(const Ref& pod, Json now, bool serving, kube::WallTime at) {
  const std::string_view status = gate_of(now);
  return ends(now) || status == (serving ? "True" : "False") ? Wish::settled() : apply_gate(pod, now, serving, at);
}

Wish look_at_label(const Ref& pod, Json now, const std::string& label, bool serving) {
  const Json value = now["metadata"]["labels"][label];
  const Json kept = now["metadata"]["annotations"][kRouterLabelValue];
  const std::string annotation = json_quote(kRouterLabelValue);
  if (ends(now) || (serving ? !kept.exists() : !value.exists())) return Wish::settled();
  const std::string label_now = serving ? json_quote(kept.text()) : "null";
  const std::string kept_now = serving ? "null" : json_quote(value.text());
  return patch(pod, now,
               R"("labels":{)" + json_quote(label) + ":" + label_now + R"(},"annotations":{)" + annotation + ":" +
                   kept_now + "}");
}

}  // namespace

DrainMeans drain_means_of(const kube::Workload& workload) {
  using Kind = DrainMeans::Kind;
  const kube::PodSpec& serving = workload.leader ? *workload.leader : workload.pod;
  if (std::ranges::find(serving.readiness_gates, kServingGate) != serving.readiness_gates.end()) {
    return {Kind::readiness_gate, {}};
  }
  const std::string* label = workload.meta.annotations.find(kRouterLabel);
  const bool own =
      label != nullptr && (workload.selector.labels.has(*label) ||
                           std::ranges::find(workload.selector.expressions, *label, &kube::Requirement::key) !=
                               workload.selector.expressions.end());
  if (label != nullptr && !label->empty() && !own) return {Kind::router_label, *label};
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
                return look_at_gate(pod, object, serving, now);
              case DrainMeans::Kind::router_label:
                return look_at_label(pod, object, means.label, serving);
              case DrainMeans::Kind::none:
              case DrainMeans::Kind::engine:
                break;
            }
            return Wish::settled();
          }};
}

Change let_in(const Ref& pod, kube::WallTime now) {
  return {pod, [pod, now](Json object) {
            const bool open = gate_of(object).empty() && !ends(object);
            return open ? apply_gate(pod, object, true, now) : Wish::settled();
          }};
}

Change mark_for_deletion(const Ref& pod, bool marked) {
  return {pod, [pod, marked](Json object) {
            const bool is = object["metadata"]["annotations"][kDeletionCost].text() == kFirstToGo;
            if (ends(object) || is == marked) return Wish::settled();
            const std::string cost = marked ? json_quote(kFirstToGo) : "null";
            return patch(pod, object, R"("annotations":{)" + json_quote(kDeletionCost) + ":" + cost + "}");
          }};
}

}  // namespace capstan::actuate
