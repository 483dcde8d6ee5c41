#include <fmt/format.h>

#include "lint/kubernetes_types.h"
#include "lint/rule.h"
#include "manifest/fields.h"

namespace capstan::lint {
namespace kubernetes_field_unknown {
namespace {

std::string message_of(const TypeFault& fault) {
  std::string message = fmt::format("Kubernetes has no field {}", fault.path);
  if (!fault.other_place.empty()) {
    message += fmt::format("; {} belongs in {}", fault.value->key, fault.other_place);
  } else if (!fault.similar.empty()) {
    message += fmt::format("; did you mean {}?", manifest::one_of(fault.similar));
  }
  return message;
}

void check(const Subject& s) {
  const bool may_be_newer = s.settings.kube.minor > kNewestKnownMinor;
  for (const TypeFault& fault : s.type_faults()) {
    if (fault.kind != TypeFault::Kind::unknown_field) continue;
    if (may_be_newer && fault.similar.empty() && fault.other_place.empty()) continue;
    Finding& finding = s.report_key(*fault.value, message_of(fault));
    if (!fault.other_place.empty() || fault.similar.size() != 1) continue;
    const std::string_view meant = fault.similar.front();
    finding.set_meant_name(meant);
    if (!fault.parent->has(meant)) finding.rename_key(*fault.value, meant);
  }
}

}  // namespace
}  // namespace kubernetes_field_unknown

extern const Rule rule_kubernetes_field_unknown;
const Rule rule_kubernetes_field_unknown = {
    .id = "kubernetes-field-unknown",
    .severity = Severity::error,
    .kinds =
        "Deployment StatefulSet DaemonSet ReplicaSet Job CronJob Pod HorizontalPodAutoscaler PodDisruptionBudget "
        "ClusterTrainingRuntime CloneSet DisaggregatedSet DynamoGraphDeployment JAXJob JobSet LeaderWorkerSet MPIJob "
        "PaddleJob PyTorchJob RayCluster RayJob RayService Rollout ScaledJob TFJob TrainingRuntime XGBoostJob",
    .title = "a workload has a field that Kubernetes does not know",
    .why =
        "kubectl refuses the object, because it validates strictly by default. Other clients drop the field, and the "
        "default applies: a Deployment with `replica: 2` has one replica, and a container with `resource:` has no GPU. "
        "In custom resources such as a LeaderWorkerSet or a RayCluster, the pod templates are checked: the operator "
        "makes "
        "pods without the field. The fields of Kubernetes 1.23 to 1.37 are known. Findings that follow from a misspelt "
        "field are left out.",
    .fix = "use the field that the message names",
    .fix_safety = FixSafety::unsafe,
    .source = "the types of Kubernetes' API (data/lint/kubernetes_fields.csv)",
    .bad = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  replica: 2
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec:
      containers: [{name: a, image: "vllm/vllm-openai:v0.11.0", resources: {limits: {nvidia.com/gpu: 1}}}]
)",
    .good = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  replicas: 2
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec:
      containers: [{name: a, image: "vllm/vllm-openai:v0.11.0", resources: {limits: {nvidia.com/gpu: 1}}}]
)",
    .check = kubernetes_field_unknown::check,
};

}  // namespace capstan::lint
