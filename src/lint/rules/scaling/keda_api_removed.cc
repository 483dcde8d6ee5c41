#include <fmt/format.h>

#include "lint/facts.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace keda_api_removed {
namespace {

void check(const Subject& s) {
  const RemovedApi* api = removed_api(s.object.api_version, s.object.kind);
  if (api == nullptr) return;
  s.report(s.object["apiVersion"], fmt::format("KEDA {} removed {} {}", api->removed_in, api->api_version, api->kind))
      .suggest(fmt::format("use {}", api->instead));
}

}  // namespace
}  // namespace keda_api_removed

extern const Rule rule_keda_api_removed;
const Rule rule_keda_api_removed = {
    .id = "keda-api-removed",
    .severity = Severity::error,
    .kinds = "ScaledObject.keda.k8s.io TriggerAuthentication.keda.k8s.io",
    .title = "the object belongs to the API of KEDA 1",
    .why =
        "KEDA 2 has the group keda.sh and does not read objects of keda.k8s.io, so the workload is not scaled. In the "
        "current version scaleTargetRef has a name in place of deploymentName.",
    .fix = "use keda.sh/v1alpha1 and rename the fields",
    .source = "KEDA documentation, migrating from KEDA v1 to v2",
    .bad = R"(apiVersion: keda.k8s.io/v1alpha1
kind: ScaledObject
metadata: {name: a}
spec:
  scaleTargetRef: {deploymentName: a}
  maxReplicaCount: 4
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: a}
spec:
  scaleTargetRef: {name: a}
  maxReplicaCount: 4
)",
    .check = keda_api_removed::check,
};

}  // namespace capstan::lint
