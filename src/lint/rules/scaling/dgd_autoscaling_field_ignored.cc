#include <fmt/format.h>

#include "lint/rule.h"

namespace capstan::lint {
namespace dgd_autoscaling_field_ignored {
namespace {

void check(const Subject& s) {
  for (const Value& service : s.object["spec"]["services"].children()) {
    const Value& autoscaling = service["autoscaling"];
    if (!autoscaling || autoscaling["enabled"].is("false")) continue;
    s.report_key(autoscaling, fmt::format("autoscaling of service {} is accepted and ignored", service.key));
  }
}

}  // namespace
}  // namespace dgd_autoscaling_field_ignored

extern const Rule rule_dgd_autoscaling_field_ignored;
const Rule rule_dgd_autoscaling_field_ignored = {
    .id = "dgd-autoscaling-field-ignored",
    .severity = Severity::error,
    .kinds = "DynamoGraphDeployment",
    .title = "autoscaling of a Dynamo service is ignored",
    .why = "The field is still accepted and does nothing: the replicas stay as they are.",
    .fix = "a DynamoGraphDeploymentScalingAdapter with an HPA or KEDA, or the Planner",
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
