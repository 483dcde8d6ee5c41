#include <fmt/format.h>

#include <algorithm>

#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace scale_target_other_namespace {
namespace {

/// Returns the object of the scaler's folder that has the target's name but is in another namespace. Returns null if
/// the input also has one that may be in the namespace of the scaler.
const Object* target_elsewhere(const Subject& s, const Scaler& scaler) {
  const Object* elsewhere = nullptr;
  for (const Object* object : s.set.in_folder(scaler.target_kind, s.object)) {
    if (!scaler.target_name->is(object->name)) continue;
    if (may_share_namespace(*object, s.object)) return nullptr;
    if (elsewhere == nullptr) elsewhere = object;
  }
  if (elsewhere == nullptr) return nullptr;  // saves most scalers the slow search of the whole input below
  const bool is_reachable = std::ranges::any_of(s.set.of_kind(scaler.target_kind), [&](const Object* object) {
    return scaler.target_name->is(object->name) && may_share_namespace(*object, s.object);
  });
  return is_reachable ? nullptr : elsewhere;
}

void check(const Subject& s) {
  const std::optional<Scaler> scaler = scaler_of(s.object);
  if (!*scaler->target_name || is_template_variable(s.object.name_space)) return;
  const Object* target = target_elsewhere(s, *scaler);
  if (target == nullptr || is_template_variable(target->name_space)) return;
  Finding& finding = s.report(*scaler->target_name,
                              fmt::format("the autoscaler is in namespace {}, but {} {} is in namespace {}",
                                          s.object.name_space, scaler->target_kind, target->name, target->name_space));
  s.require_object(finding, *target, target->name);
  // A kustomization may set the namespace of both.
  if (!s.object.file->deployers.empty()) finding.set_severity(Severity::info);
}

}  // namespace
}  // namespace scale_target_other_namespace

extern const Rule rule_scale_target_other_namespace;
const Rule rule_scale_target_other_namespace = {
    .id = "scale-target-other-namespace",
    .severity = Severity::warning,
    .kinds = "HorizontalPodAutoscaler ScaledObject",
    .title = "the autoscaler's target is in another namespace",
    .why =
        "An autoscaler finds its target only in its own namespace. It scales nothing and reports this only in its "
        "conditions. The finding is advice if a kustomization, which may set the namespace, deploys the autoscaler.",
    .fix = "put the autoscaler into the namespace of its target",
    .source = "Kubernetes documentation, horizontal pod autoscaling; KEDA documentation, scaling Deployments",
    .bad = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: a, namespace: monitoring}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}, maxReplicas: 4}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a, namespace: inference}
spec: {selector: {matchLabels: {a: b}}, template: {spec: {containers: [{name: a, image: "a:1"}]}}}
)",
    .good = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: a, namespace: inference}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}, maxReplicas: 4}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a, namespace: inference}
spec: {selector: {matchLabels: {a: b}}, template: {spec: {containers: [{name: a, image: "a:1"}]}}}
)",
    .check = scale_target_other_namespace::check,
};

}  // namespace capstan::lint
