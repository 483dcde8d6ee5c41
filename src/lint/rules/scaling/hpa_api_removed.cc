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
      s.report(version, fmt::format("{} is gone since Kubernetes {}", api->api_version, api->removed_in));
  finding.suggest(fmt::format("{}", api->instead));
  // v2beta1 has other fields; v2beta2 only another name.
  if (s.object.version == "v2beta2") finding.replace(version, api->instead);
}

}  // namespace
}  // namespace hpa_api_removed

extern const Rule rule_hpa_api_removed;
const Rule rule_hpa_api_removed = {
    .id = "hpa-api-removed",
    .severity = Severity::error,
    .kinds = "HorizontalPodAutoscaler",
    .title = "this version of the HPA API is gone",
    .why = "The API server does not know it and refuses the object.",
    .fix = "set apiVersion to autoscaling/v2; the fields of v2beta1 have to be rewritten",
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
