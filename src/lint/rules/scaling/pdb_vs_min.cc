#include <fmt/format.h>

#include "lint/pods.h"
#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace pdb_vs_min {
namespace {

void check(const Subject& s) {
  const Value& available = s.object["spec"]["minAvailable"];
  const auto count = available.integer();
  if (!count) return;
  for (const std::string_view kind : {"Deployment", "StatefulSet"}) {
    for (const Object* workload : s.set.in_folder(kind, s.object)) {
      const Value& labels = at(*workload, "spec.template.metadata.labels");
      if (!may_share_namespace(*workload, s.object) || !selects(at(s.object, "spec.selector.matchLabels"), labels))
        continue;
      for (const Object* object : scalers_of(*workload, s.set)) {
        const std::int64_t min = scaler_of(*object)->min_replicas;
        if (min == 0 || *count < min) continue;
        s.report(available,
                 fmt::format("minAvailable is {} and {} has a minimum of {}, so at the minimum no pod can be evicted",
                             *count, object->title(), min))
            .require_object(*object, s.set.belong_together(s.object, *object, workload->name));
        return;
      }
    }
  }
}

}  // namespace
}  // namespace pdb_vs_min

extern const Rule rule_pdb_vs_min;
const Rule rule_pdb_vs_min = {
    .id = "pdb-vs-min",
    .severity = Severity::error,
    .kinds = "PodDisruptionBudget",
    .title = "a disruption budget allows no eviction at the autoscaler's minimum",
    .why =
        "At the minimum number of replicas no pod may be evicted. Drains, upgrades and consolidation of its nodes wait "
        "until someone deletes the budget.",
    .fix = "set maxUnavailable to 1",
    .source = "Polaris pdbMinAvailableGreaterThanHPAMinReplicas; Kubernetes disruption documentation",
    .bad = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: vllm}
spec:
  selector: {matchLabels: {app: vllm}}
  template: {metadata: {labels: {app: vllm}}, spec: {containers: [{name: a, image: "a:1"}]}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: vllm}
spec: {scaleTargetRef: {kind: Deployment, name: vllm}, minReplicas: 2, maxReplicas: 4}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: vllm}
spec: {minAvailable: 2, selector: {matchLabels: {app: vllm}}}
)",
    .good = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: vllm}
spec:
  selector: {matchLabels: {app: vllm}}
  template: {metadata: {labels: {app: vllm}}, spec: {containers: [{name: a, image: "a:1"}]}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: vllm}
spec: {scaleTargetRef: {kind: Deployment, name: vllm}, minReplicas: 2, maxReplicas: 4}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: vllm}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: vllm}}}
)",
    .check = pdb_vs_min::check,
};

}  // namespace capstan::lint
