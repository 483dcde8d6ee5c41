#include <fmt/format.h>

#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace min_gt_max {
namespace {

void check(const Subject& s) {
  const std::optional<Scaler> scaler = scaler_of(s.object);
  const auto max = scaler->max->integer();
  if (!max || scaler->min_replicas <= *max) return;
  s.report(*scaler->min,
           fmt::format("{} is {}, but {} is {}", scaler->min->key, scaler->min_replicas, scaler->max->key, *max));
}

}  // namespace
}  // namespace min_gt_max

extern const Rule rule_min_gt_max;
const Rule rule_min_gt_max = {
    .id = "min-gt-max",
    .severity = Severity::error,
    .kinds = "@scaler",
    .title = "the minimum is above the maximum",
    .why = "The API server refuses the object.",
    .fix = "swap the two values",
    .source = "HPA and KEDA validation",
    .bad = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
spec: {scaleTargetRef: {kind: Deployment, name: a}, minReplicas: 8, maxReplicas: 4}
)",
    .good = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
spec: {scaleTargetRef: {kind: Deployment, name: a}, minReplicas: 4, maxReplicas: 8}
)",
    .check = min_gt_max::check,
};

}  // namespace capstan::lint
