#include <fmt/format.h>

#include <algorithm>

#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace two_autoscalers_one_target {
namespace {

/// An HPA that KEDA made, or hands over to it.
bool is_of(const Object& hpa, const Object& scaled) {
  if (hpa.kind != "HorizontalPodAutoscaler" || scaled.kind != "ScaledObject") return false;
  const Value& name = at(scaled, "spec.advanced.horizontalPodAutoscalerConfig.name");
  return name.is(hpa.name) || hpa.name == "keda-hpa-" + std::string(scaled.name) ||
         annotation(scaled, "scaledobject.keda.sh/transfer-hpa-ownership").is("true");
}

/// AIBrix scales the roles of one workload apart: each PodAutoscaler selects its own.
bool have_other_parts(const Object& a, const Object& b) {
  const Value& mine = at(a, "spec.subTargetSelector.roleName");
  const Value& other = at(b, "spec.subTargetSelector.roleName");
  return mine && other && !mine.is(other.text);
}

void check(const Subject& s) {
  const std::optional<Scaler> mine = scaler_of(s.object);
  if (!*mine->target_name) return;
  for (const Object* other : s.set.targeting(mine->target_kind, mine->target_name->text, s.object)) {
    // Two files that hold one object by kind and name are two versions of it.
    const bool same_object = other->kind == s.object.kind && other->name == s.object.name;
    if (other->index >= s.object.index) break;
    if (same_object) continue;
    if (!is_scaler(other->kind) || !same_space(*other, s.object)) continue;
    if (is_of(s.object, *other) || is_of(*other, s.object) || have_other_parts(s.object, *other)) continue;
    Finding& finding = s.report(*mine->target_name, fmt::format("{} {} is scaled by {} already", mine->target_kind,
                                                                mine->target_name->text, other->title()));
    // In different files they may be meant as alternatives, and in prose they mostly are.
    if (s.object.file->is_excerpt()) {
      finding.as(Severity::info);
    } else if (other->file != s.object.file && !s.set.closed()) {
      finding.as(Severity::warning);
    }
    return;
  }
}

}  // namespace
}  // namespace two_autoscalers_one_target

extern const Rule rule_two_autoscalers_one_target;
const Rule rule_two_autoscalers_one_target = {
    .id = "two-autoscalers-one-target",
    .severity = Severity::error,
    .kinds = "@scaler",
    .title = "two autoscalers scale one workload",
    .why =
        "Each undoes what the other did, every 15 seconds; KEDA's webhook refuses the second one. Replicas flap, and "
        "every flap of a GPU replica is a cold start.",
    .fix = "delete one of them; several metrics belong into one autoscaler",
    .source = "KEDA scaledobject_webhook.go: \"the workload is already managed by the hpa\"",
    .bad = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: a}
spec: {scaleTargetRef: {kind: Deployment, name: llm-inference}, maxReplicas: 4}
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: b}
spec: {scaleTargetRef: {name: llm-inference}, maxReplicaCount: 4}
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: b}
spec: {scaleTargetRef: {name: llm-inference}, minReplicaCount: 1, maxReplicaCount: 4}
)",
    .check = two_autoscalers_one_target::check,
};

}  // namespace capstan::lint
