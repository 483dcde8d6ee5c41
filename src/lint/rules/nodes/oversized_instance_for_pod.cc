#include <fmt/format.h>

#include <algorithm>

#include "lint/pods.h"
#include "lint/pools.h"
#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace oversized_instance_for_pod {
namespace {

/// The GPUs that the workloads of the folder ask for.
struct Demand {
  std::int64_t all_pods = 0;  ///< GPUs of all pods, at the maximum number of replicas
  const Object* workload = nullptr;
};

std::int64_t max_replicas(const Object& workload, const Set& set) {
  std::int64_t max = workload["spec"]["replicas"].integer().value_or(1);
  for (const Object* scaler : scalers_of(workload, set)) {
    max = std::max(max, scaler_of(*scaler)->max->integer().value_or(100));
  }
  return max;
}

Demand demand_of(const Subject& s) {
  constexpr std::int64_t kMax = 1'000'000;
  Demand demand;
  for (const std::string_view kind : {"Deployment", "StatefulSet", "LeaderWorkerSet", "Pod", "Job"}) {
    for (const Object* workload : s.set.in_folder(kind, s.object)) {
      const std::int64_t gpus = gpus_of_largest_pod(*workload);
      if (gpus == 0) continue;
      demand.all_pods = std::min(kMax, demand.all_pods + gpus * std::min(kMax, max_replicas(*workload, s.set)));
      demand.workload = workload;
    }
  }
  return demand;
}

/// Returns the number of GPUs of an instance type, or of the smallest instance of a family ("p4d").
std::optional<std::int64_t> gpus_of_node(std::string_view name) {
  const GpuFamily* family = gpu_family(name);
  if (family == nullptr) return std::nullopt;
  return name.find('.') == name.npos ? std::optional(family->min_gpus) : gpus_of_instance(name);
}

/// The first value of a requirement that stands for nodes with too many GPUs.
struct Oversize {
  const Value* value = nullptr;
  std::int64_t gpus = 0;  ///< GPUs of a node
  bool is_all = true;     ///< true if all values of the requirement stand for such nodes
};

Oversize oversize_of(const Value& entry, std::int64_t max_gpus) {
  Oversize out;
  for (const Value& value : entry["values"].children()) {
    const std::optional<std::int64_t> gpus = gpus_of_node(value.text);
    const bool is_large = gpus && *gpus > max_gpus;
    out.is_all = out.is_all && is_large;
    if (is_large && out.value == nullptr) {
      out.value = &value;
      out.gpus = *gpus;
    }
  }
  return out;
}

void check(const Subject& s) {
  const std::optional<Pool> pool = gpu_pool_of(s.object);
  const Demand demand = pool ? demand_of(s) : Demand();
  if (demand.all_pods == 0) return;
  for (const std::string_view key : {"instance-family", "instance-type"}) {
    const Value& entry = requirement(*pool, key);
    if (!entry["operator"].is("In")) continue;
    const Oversize found = oversize_of(entry, demand.all_pods);
    if (found.value == nullptr) continue;  // no node has more GPUs than all pods ask for
    Finding& finding =
        s.require_object(s.report(*found.value, fmt::format("{} has {} GPUs, but all pods together ask for at most {}",
                                                            found.value->text, found.gpus, demand.all_pods)),
                         *demand.workload);
    if (!found.is_all)
      finding.set_severity(Severity::info);  // Karpenter launches smaller nodes while they are available
    return;
  }
}

}  // namespace
}  // namespace oversized_instance_for_pod

extern const Rule rule_oversized_instance_for_pod;
const Rule rule_oversized_instance_for_pod = {
    .id = "oversized-instance-for-pod",
    .severity = Severity::warning,
    .kinds = "NodePool",
    .title = "a node has more GPUs than all pods together ask for",
    .why = "The first pod launches the whole node, and the GPUs that no pod uses cost money.",
    .fix = "allow instance types with as many GPUs as the pods ask for: g6e, g5, p5.4xlarge",
    .source = "instance types of the clouds",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {nvidia.com/gpu: 64}
  template: {spec: {requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [p4d]}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {a: b}}
  template: {spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]}}
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {nvidia.com/gpu: 64}
  template: {spec: {requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [g6e]}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {a: b}}
  template: {spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]}}
)",
    .check = oversized_instance_for_pod::check,
};

}  // namespace capstan::lint
