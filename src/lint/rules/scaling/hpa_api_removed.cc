#include <fmt/format.h>

#include "lint/facts.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace hpa_api_removed {
namespace {

void check(const Subject& s) {
  const RemovedApi* api = removed_api(s.object.api_version, s.object.kind);
  if (api == nullptr || s.settings.kube.minor < minor_of(api->removed_in)) return;
  const Value& version = s.object["apiVersion"];
  Finding& finding =
      s.report(version, fmt::format("{} was removed in Kubernetes {}", api->api_version, api->removed_in));
  finding.suggest(fmt::format("{}", api->instead));
  // The fields of v2beta1 differ; v2beta2 differs only in its name.
  if (s.object.version == "v2beta2") finding.replace(version, api->instead);
}

}  // namespace
}  // namespace hpa_api_removed

extern const Rule rule_hpa_api_removed;
const Rule rule_hpa_api_removed = {
    .id = "hpa-api-removed",
    .severity = Severity::error,
    .kinds = "HorizontalPodAutoscaler",
    .title = "this version of the HPA API was removed",
    .why = "The API server does not know the version and refuses the object.",
    .fix = "set apiVersion to autoscaling/v2; rewrite the fields of v2beta1",
    .fix_safety = FixSafety::safe,
    .source = "Kubernetes deprecation guide, 1.25 and 1.26",
    .bad = R"(apiVersion: autoscaling/v2beta2
kind: HorizontalPodAutoscaler
spec: {scaleTargetRef: {kind: Deployment, name: a}, maxReplicas: 4}
)",
    .good = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
spec: {scaleTargetRef: {kind: Deployment, name: a}, maxReplicas: 4}
)",
    .check = hpa_api_removed::check,
};

}  // namespace capstan::lint
