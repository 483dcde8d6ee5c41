#include <fmt/format.h>

#include <algorithm>

#include "lint/facts.h"
#include "lint/pods.h"
#include "lint/rule.h"
#include "manifest/quantity.h"

namespace capstan::lint {
namespace pod_exceeds_instance {
namespace {

constexpr std::int64_t kMilli = 1000;

/// Returns the CPU that the scheduler counts for a container, in milli-CPU. A limit without a request counts.
std::int64_t cpu_milli_of(const Value& container) {
  const Value& resources = container["resources"];
  const Value& request = resources["requests"]["cpu"];
  const Value& counted = request ? request : resources["limits"]["cpu"];
  return manifest::read_quantity_milli(counted.text).value_or(0);
}

/// Returns the CPU of a pod, in milli-CPU: the sum of its containers and sidecars, or that of its largest init
/// container if that is more. Amounts beyond those of any node are cut, so that no sum overflows.
std::int64_t cpu_milli_of(const Pod& pod) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  std::int64_t sum = 0;
  std::int64_t largest = 0;
  const auto add = [&](const Value& container) {
    sum = std::min(kMost, sum + std::min(kMost, cpu_milli_of(container)));
  };
  for (const Value* container : containers_of(pod)) add(*container);
  for (const Value* container : init_containers_of(pod)) {
    if (is_sidecar(*container)) add(*container);
    largest = std::max(largest, cpu_milli_of(*container));
  }
  return std::max(sum, largest);
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
    } else if (const std::int64_t cpu = cpu_milli_of(pod); cpus && cpu > *cpus * kMilli) {
      s.report(type, fmt::format("{} has {} CPUs, but the pod asks for {:g}, so it stays pending", type.text, *cpus,
                                 static_cast<double>(cpu) / kMilli));
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
