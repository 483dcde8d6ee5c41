#include <fmt/format.h>

#include <algorithm>

#include "lint/facts.h"
#include "lint/pods.h"
#include "lint/rule.h"
#include "manifest/quantity.h"

namespace capstan::lint {
namespace pod_exceeds_instance {
namespace {

constexpr std::int64_t kMilliPerCpu = 1000;

/// Returns the CPU that the scheduler counts for a container, in milli-CPU. Without a request, the limit counts.
/// Amounts beyond those of any node are capped.
std::int64_t cpu_milli_of(const Value& container) {
  constexpr std::int64_t kMax = std::int64_t{1} << 40;
  const Value& resources = container["resources"];
  const Value& request = resources["requests"]["cpu"];
  const Value& counted = request ? request : resources["limits"]["cpu"];
  return std::min(kMax, manifest::read_quantity_milli(counted.text).value_or(0));
}

void check(const Subject& s) {
  for (const Pod& pod : pods_of(s.object)) {
    const Value& type = (*pod.spec)["nodeSelector"]["node.kubernetes.io/instance-type"];
    const std::optional<std::int64_t> gpus = gpus_of_instance(type.text);
    const std::optional<std::int64_t> cpus = cpus_of_instance(type.text);
    if (!gpus) continue;
    if (const std::int64_t asked = gpus_of(pod); asked > *gpus) {
      s.report(type,
               fmt::format("{} has {} GPUs, but the pod asks for {}, so it stays pending", type.text, *gpus, asked));
    } else if (const std::int64_t cpu = scheduled_amount(pod, cpu_milli_of); cpus && cpu > *cpus * kMilliPerCpu) {
      s.report(type, fmt::format("{} has {} CPUs, but the pod asks for {:g}, so it stays pending", type.text, *cpus,
                                 static_cast<double>(cpu) / kMilliPerCpu));
    }
  }
}

}  // namespace
}  // namespace pod_exceeds_instance

extern const Rule rule_pod_exceeds_instance;
const Rule rule_pod_exceeds_instance = {
    .id = "pod-exceeds-instance",
    .severity = Severity::error,
    .kinds = "@pods",
    .title = "the pod asks for more than the instance type that it selects has",
    .why = "No node can hold the pod, so it stays pending, and Karpenter launches nothing for it.",
    .fix = "select a larger instance type, or ask for less: the system's own pods need CPU on each node, too",
    .source = "instance types of AWS",
    .bad = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  nodeSelector: {node.kubernetes.io/instance-type: g6e.xlarge}
  containers: [{name: a, image: "a:1", resources: {requests: {cpu: 6}, limits: {nvidia.com/gpu: 1}}}]
)",
    .good = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  nodeSelector: {node.kubernetes.io/instance-type: g6e.2xlarge}
  containers: [{name: a, image: "a:1", resources: {requests: {cpu: 6}, limits: {nvidia.com/gpu: 1}}}]
)",
    .check = pod_exceeds_instance::check,
};

}  // namespace capstan::lint
