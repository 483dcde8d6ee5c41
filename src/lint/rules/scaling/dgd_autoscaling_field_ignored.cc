#include <fmt/format.h>

#include "lint/rule.h"

namespace capstan::lint {
namespace dgd_autoscaling_field_ignored {
namespace {

void check(const Subject& s) {
  for (const Value& service : s.object["spec"]["services"].children()) {
    const Value& autoscaling = service["autoscaling"];
    if (!autoscaling || autoscaling["enabled"].is("false")) continue;
    s.report_key(autoscaling, fmt::format("Dynamo ignores the field autoscaling of service {}", service.key));
  }
}

}  // namespace
}  // namespace dgd_autoscaling_field_ignored

extern const Rule rule_dgd_autoscaling_field_ignored;
const Rule rule_dgd_autoscaling_field_ignored = {
    .id = "dgd-autoscaling-field-ignored",
    .severity = Severity::error,
    .kinds = "DynamoGraphDeployment",
    .title = "the field autoscaling of a Dynamo service is ignored",
    .why = "The API server accepts the field but it has no effect, so the replicas do not change.",
    .fix = "use a DynamoGraphDeploymentScalingAdapter with an HPA or KEDA, or the Planner",
    .source = "Dynamo documentation, autoscaling",
    .bad = R"(apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: llama}
spec:
  services:
    decode: {replicas: 1, autoscaling: {enabled: true, maxReplicas: 4}}
)",
    .good = R"(apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: llama}
spec:
  services:
    decode: {replicas: 1}
)",
    .check = dgd_autoscaling_field_ignored::check,
};

}  // namespace capstan::lint
