#include <fmt/format.h>

#include "lint/pods.h"
#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace pdb_vs_min {
namespace {

/// Reports a budget that requires all replicas of a workload without an autoscaler. A person may have chosen it to
/// forbid every eviction, so the finding is advice.
void check_replicas(const Subject& s, std::int64_t count, const Object& workload) {
  const auto replicas = workload["spec"]["replicas"].integer();
  if (!replicas || *replicas < 1 || count < *replicas) return;
  const Value& available = s.object["spec"]["minAvailable"];
  s.report(available, fmt::format("minAvailable is {} and {} has {} replicas, so no pod can be evicted", count,
                                  workload.title(), *replicas))
      .set_severity(Severity::info)
      .require_object(workload, s.set.belong_together(s.object, workload, workload.name));
}

/// Reports a budget that allows no eviction at the minimum of an autoscaler. Returns false if the workload has no
/// autoscaler.
bool check_scalers(const Subject& s, std::int64_t count, const Object& workload) {
  const std::vector<const Object*> scalers = scalers_of(workload, s.set);
  for (const Object* object : scalers) {
    const std::int64_t min = scaler_of(*object)->min_replicas;
    if (min == 0 || count < min) continue;
    Finding& finding =
        s.report(s.object["spec"]["minAvailable"],
                 fmt::format("minAvailable is {} and {} has a minimum of {}, so at the minimum no pod can be evicted",
                             count, object->title(), min));
    finding.require_object(*object, s.set.belong_together(s.object, *object, workload.name));
    if (count == 1) finding.set_severity(Severity::info);  // a single replica may be protected on purpose
    break;
  }
  return !scalers.empty();
}

void check(const Subject& s) {
  const auto count = s.object["spec"]["minAvailable"].integer();
  if (!count) return;
  for (const std::string_view kind : {"Deployment", "StatefulSet"}) {
    for (const Object* workload : s.set.in_folder(kind, s.object)) {
      const Value& labels = at(*workload, "spec.template.metadata.labels");
      if (!may_share_namespace(*workload, s.object) || !selects(at(s.object, "spec.selector.matchLabels"), labels))
        continue;
      if (!check_scalers(s, *count, *workload)) check_replicas(s, *count, *workload);
      return;
    }
  }
}

}  // namespace
}  // namespace pdb_vs_min

extern const Rule rule_pdb_vs_min;
const Rule rule_pdb_vs_min = {
    .id = "pdb-vs-min",
    .severity = Severity::warning,
    .kinds = "PodDisruptionBudget",
    .title = "a disruption budget allows no eviction at the smallest number of replicas",
    .why =
        "At the minimum number of replicas no pod may be evicted. Drains, upgrades and consolidation of its nodes wait "
        "until someone deletes the budget. For a fixed number of replicas, and for a single one, the finding is "
        "advice, "
        "because the budget may be meant to forbid evictions.",
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
