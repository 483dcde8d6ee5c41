#include <fmt/format.h>

#include <algorithm>

#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace gpu_on_init_container {
namespace {

bool wants_any(const Value& container) {
  return std::ranges::any_of(gpu_resources(container),
                             [](const GpuResource& resource) { return !resource.quantity().is("0"); });
}

void check(const Subject& s) {
  for (const Pod& pod : pods_of(s.object)) {
    if (gpu_container(pod) || (*pod.spec)["resourceClaims"].count > 0) continue;
    const Containers containers = containers_of(pod);
    if (containers.begin() == containers.end()) continue;
    for (const Value* container : init_containers_of(pod)) {
      if (!wants_any(*container)) continue;
      const GpuResource resource = gpu_resources(*container).front();
      s.report_key(
          resource.quantity(),
          fmt::format("{} is requested only by init container {}; the pod holds it until it ends, but no other "
                      "container can use it",
                      resource.name, (*container)["name"].text));
      break;
    }
  }
}

}  // namespace
}  // namespace gpu_on_init_container

extern const Rule rule_gpu_on_init_container;
const Rule rule_gpu_on_init_container = {
    .id = "gpu-on-init-container",
    .severity = Severity::warning,
    .kinds = "@gpu",
    .title = "only an init container asks for a GPU",
    .why =
        "The scheduler reserves the request of the largest init container until the pod ends. After the init container "
        "the GPU is idle and still costs money. If the GPU was meant for the server, the server runs without one.",
    .fix = "request the GPU in the container that serves; move one-time work to a Job",
    .source = "Kubernetes documentation, init containers: resource sharing",
    .bad = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  initContainers: [{name: convert, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]
  containers: [{name: serve, image: "a:1"}]
)",
    .good = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  initContainers: [{name: convert, image: "a:1"}]
  containers: [{name: serve, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]
)",
    .check = gpu_on_init_container::check,
};

}  // namespace capstan::lint
