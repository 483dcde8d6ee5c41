#include <fmt/format.h>

#include <algorithm>

#include "lint/rule.h"
#include "lint/scalers.h"
#include "lint/serving.h"

namespace capstan::lint {
namespace pdb_missing_or_blocking {
namespace {

void check_budget(const Subject& s) {
  const Value& unavailable = s.object["spec"]["maxUnavailable"];
  const Value& available = s.object["spec"]["minAvailable"];
  if (unavailable.is("0") || unavailable.is("0%")) {
    s.report(unavailable, fmt::format("with maxUnavailable {} no pod can ever be evicted", unavailable.text))
        .replace(unavailable, "1");
  } else if (available.is("100%")) {
    s.report(available, "with minAvailable 100% no pod can ever be evicted");
  }
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

/// Reports a missing budget. The budget may be in another folder, so the finding is a warning only if the input is
/// complete.
void check_workload(const Subject& s) {
  if (!serves_on_gpu(s.object) || is_partial(s.object) || has_budget(s)) return;
  const std::vector<GpuPod> pods = gpu_pods_of(s.object);
  const auto takes_none = [&](const GpuPod& found) {
    return is_placeholder(s.object, found.pod) || !takes_requests(s.object, found.pod, found.container, s.set);
  };
  if (std::ranges::all_of(pods, takes_none)) return;
  const std::int64_t replicas = floor_of(s);
  if (replicas < 2) return;
  Finding& finding = s.report_object(
      fmt::format("{} replicas on GPUs have no PodDisruptionBudget, so a drain may end all of them at once", replicas));
  if (!s.set.closed()) finding.set_severity(Severity::info);
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
        "several nodes may end at the same time.",
    .fix = "add a PodDisruptionBudget with maxUnavailable 1",
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
