#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "lint/rule.h"
#include "lint/scalers.h"
#include "lint/serving.h"

namespace capstan::lint {
namespace pdb_missing_or_blocking {
namespace {

/// Returns the largest number of replicas that the workload may run: the maximum of its autoscaler, if it has one.
std::int64_t ceiling_of(const Object& workload, const Set& set) {
  std::int64_t ceiling = workload["spec"]["replicas"].integer().value_or(1);
  for (const Object* object : scalers_of(workload, set)) {
    if (!set.belong_together(*object, workload, workload.name)) continue;
    const std::optional<Scaler> scaler = scaler_of(*object);
    ceiling = std::max({ceiling, scaler->min_replicas, scaler->max->integer().value_or(1)});
  }
  return ceiling;
}

/// Returns true if the budget selects a workload of the folder that may have several replicas, so that an eviction
/// leaves some. The budget of a single replica may be meant to forbid evictions.
bool protects_replicas(const Subject& s) {
  for (const std::string_view kind : {"Deployment", "StatefulSet"}) {
    for (const Object* workload : s.set.in_folder(kind, s.object)) {
      const Value& labels = at(*workload, "spec.template.metadata.labels");
      if (!may_share_namespace(*workload, s.object) || !selects(at(s.object, "spec.selector.matchLabels"), labels))
        continue;
      const bool is_sure = s.set.belong_together(s.object, *workload, workload->name);
      if (is_sure && ceiling_of(*workload, s.set) > 1) return true;
    }
  }
  return false;
}

void check_budget(const Subject& s) {
  const Value& unavailable = s.object["spec"]["maxUnavailable"];
  const Value& available = s.object["spec"]["minAvailable"];
  const bool is_zero = unavailable.is("0") || unavailable.is("0%");
  if (!is_zero && !available.is("100%")) return;
  Finding& finding =
      is_zero
          ? s.report(unavailable, fmt::format("with maxUnavailable {} no pod can ever be evicted", unavailable.text))
          : s.report(available, "with minAvailable 100% no pod can ever be evicted");
  if (is_zero) {
    finding.replace(unavailable, "1");
  } else {
    finding.replace_entry(available, "maxUnavailable", "1");
  }
  if (!protects_replicas(s)) finding.set_severity(Severity::info);
}

/// Returns the smallest number of replicas that the workload runs.
std::int64_t floor_of(const Subject& s) {
  const std::vector<const Object*> scalers = scalers_of(s.object, s.set);
  if (scalers.empty()) return s.object["spec"]["replicas"].integer().value_or(1);
  std::int64_t floor = 0;
  for (const Object* scaler : scalers) floor = std::max(floor, scaler_of(*scaler)->min_replicas);
  return floor;
}

bool has_budget(const Subject& s) {
  const Value& labels = at(s.object, "spec.template.metadata.labels");
  return std::ranges::any_of(s.set.in_folder("PodDisruptionBudget", s.object), [&](const Object* budget) {
    const Value& selector = at(*budget, "spec.selector");
    return may_share_namespace(*budget, s.object) &&
           (selector["matchExpressions"].count > 0 || selects(selector["matchLabels"], labels));
  });
}

/// Reports a missing budget. It is advice, because the budget may be in another folder or not be needed.
void check_workload(const Subject& s) {
  if (!serves_on_gpu(s.object) || is_partial(s.object) || has_budget(s)) return;
  const std::vector<GpuPod> pods = gpu_pods_of(s.object);
  const auto takes_none = [&](const GpuPod& found) {
    return is_placeholder(s.object, found.pod) || !takes_requests(s.object, found.pod, found.container, s.set);
  };
  if (std::ranges::all_of(pods, takes_none)) return;
  const std::int64_t replicas = floor_of(s);
  if (replicas < 2) return;
  s.report_object(
       fmt::format("{} replicas on GPUs have no PodDisruptionBudget, so a drain may end all of them at once", replicas))
      .set_severity(Severity::info);
}

void check(const Subject& s) {
  if (s.object.kind == "PodDisruptionBudget") {
    check_budget(s);
  } else {
    check_workload(s);
  }
}

}  // namespace
}  // namespace pdb_missing_or_blocking

extern const Rule rule_pdb_missing_or_blocking;
const Rule rule_pdb_missing_or_blocking = {
    .id = "pdb-missing-or-blocking",
    .severity = Severity::warning,
    .kinds = "PodDisruptionBudget Deployment StatefulSet",
    .title = "a PodDisruptionBudget forbids every eviction or is missing",
    .why =
        "A budget that allows no eviction blocks drains and upgrades until someone deletes it. A node with a "
        "terminationGracePeriod is then deleted together with its requests. Without a budget all replicas on one or "
        "several nodes may end at the same time. The finding is a warning if a budget forbids the eviction of several "
        "replicas in the input. It is advice for a single replica and for a missing budget.",
    .fix = "have one PodDisruptionBudget with maxUnavailable 1",
    .fix_safety = FixSafety::unsafe,
    .source = "Karpenter documentation, disruption; Kubernetes documentation",
    .bad = R"(apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: a}
spec: {maxUnavailable: 0, selector: {matchLabels: {a: b}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  replicas: 2
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      containers: [{name: a, image: "a:1", ports: [{containerPort: 80}], resources: {limits: {nvidia.com/gpu: 1}}}]
)",
    .good = R"(apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: a}
spec: {maxUnavailable: 1, selector: {matchLabels: {a: b}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  replicas: 2
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      containers: [{name: a, image: "a:1", ports: [{containerPort: 80}], resources: {limits: {nvidia.com/gpu: 1}}}]
)",
    .check = pdb_missing_or_blocking::check,
};

}  // namespace capstan::lint
