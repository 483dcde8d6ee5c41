#include <fmt/format.h>

#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace scale_target_missing {
namespace {

void check(const Subject& s) {
  if (!s.set.is_complete()) return;  // the target may be elsewhere
  const std::optional<Scaler> scaler = scaler_of(s.object);
  if (!*scaler->target_name) return;
  for (const Object* object : s.set.in_folder(scaler->target_kind, s.object)) {
    if (object->name == scaler->target_name->text && may_share_namespace(*object, s.object)) return;
  }
  s.report(*scaler->target_name, fmt::format("the input has no {} {}", scaler->target_kind, scaler->target_name->text));
}

}  // namespace
}  // namespace scale_target_missing

extern const Rule rule_scale_target_missing;
const Rule rule_scale_target_missing = {
    .id = "scale-target-missing",
    .severity = Severity::error,
    .kinds = "@scaler",
    .title = "the autoscaler's target is not in the input",
    .why = "The autoscaler scales nothing and reports this only in its conditions.",
    .fix = "correct the name or the kind",
    .source = "kube-linter dangling-horizontalpodautoscaler",
    .bad = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: vllm}
spec: {scaleTargetRef: {kind: Deployment, name: vllm}, maxReplicas: 4}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: vllm-deployment}
spec: {selector: {matchLabels: {app: vllm}}}
)",
    .good = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: vllm}
spec: {scaleTargetRef: {kind: Deployment, name: vllm-deployment}, maxReplicas: 4}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: vllm-deployment}
spec: {selector: {matchLabels: {app: vllm}}}
)",
    .check = scale_target_missing::check,
};

}  // namespace capstan::lint
