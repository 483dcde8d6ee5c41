#include <fmt/format.h>

#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace gpu_shared_multi_request {
namespace {

void check(const Subject& s) {
  for (const Pod& pod : pods_of(s.object)) {
    for (const Value* container : all_containers_of(pod)) {
      for (const GpuResource& resource : gpu_resources(*container)) {
        if (resource.name != "nvidia.com/gpu.shared" || resource.count().value_or(0) < 2) continue;
        s.report(resource.quantity(), fmt::format("{} shares give no more compute than one", resource.quantity().text));
      }
    }
  }
}

}  // namespace
}  // namespace gpu_shared_multi_request

extern const Rule rule_gpu_shared_multi_request;
const Rule rule_gpu_shared_multi_request = {
    .id = "gpu-shared-multi-request",
    .severity = Severity::warning,
    .kinds = "@gpu",
    .title = "a container requests more than one share of a GPU",
    .why =
        "Two shares of time-sliced GPUs give no more compute than one, and both may be of the same GPU. With "
        "failRequestsGreaterThanOne the device plugin refuses the pod.",
    .fix = "request one share, or a whole GPU",
    .source = "NVIDIA k8s-device-plugin README",
    .bad = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu.shared: 2}}}]}
)",
    .good = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu.shared: 1}}}]}
)",
    .check = gpu_shared_multi_request::check,
};

}  // namespace capstan::lint
