#include <fmt/format.h>

#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace bursty_cpu_limit {
namespace {

void check(const Subject& s) {
  for (const Pod& pod : pods_of(s.object)) {
    for (const Value* container : containers_of(pod)) {
      const Value& request = at(*container, "resources.requests.cpu");
      const Value& limit = at(*container, "resources.limits.cpu");
      if (gpu_resources(*container).empty() || !request || !limit || limit.is(request.text)) continue;
      s.report(limit, fmt::format("the container requests {} cores and its limit is {}, so it gets no exclusive cores",
                                  request.text, limit.text));
    }
  }
}

}  // namespace
}  // namespace bursty_cpu_limit

extern const Rule rule_bursty_cpu_limit;
const Rule rule_bursty_cpu_limit = {
    .id = "bursty-cpu-limit",
    .severity = Severity::info,
    .kinds = "@gpu",
    .title = "request and limit of the CPU differ in a GPU pod",
    .why =
        "Such a pod is not of QoS class Guaranteed, so the CPU manager gives it no exclusive cores near its GPU. Token "
        "latency then depends on the other pods of the node.",
    .fix = "set request and limit to the same whole number of cores",
    .source = "Kubernetes documentation, CPU manager",
    .bad = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
    - {name: a, image: "a:1", resources: {requests: {cpu: "8"}, limits: {nvidia.com/gpu: 1, cpu: "32"}}}
)",
    .good = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
    - {name: a, image: "a:1", resources: {requests: {cpu: "8"}, limits: {nvidia.com/gpu: 1, cpu: "8"}}}
)",
    .check = bursty_cpu_limit::check,
};

}  // namespace capstan::lint
