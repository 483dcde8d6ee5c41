#include <fmt/format.h>

#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace gpu_request_limit_mismatch {
namespace {

void check(const Subject& s) {
  for (const Pod& pod : pods_of(s.object)) {
    for (const Value* container : all_containers_of(pod)) {
      for (const GpuResource& resource : gpu_resources(*container)) {
        if (resource.name == "gpu") continue;  // the operator of Dynamo completes this resource
        if (resource.limit == nullptr || resource.request == nullptr) continue;
        const auto request = resource.request->integer();
        const auto limit = resource.limit->integer();
        if (!request || !limit || *request == *limit) continue;
        s.report(*resource.request,
                 fmt::format("{} has request {} and limit {}, but they must be equal", resource.name, *request, *limit))
            .replace(*resource.request, resource.limit->text);
      }
    }
  }
}

}  // namespace
}  // namespace gpu_request_limit_mismatch

extern const Rule rule_gpu_request_limit_mismatch;
const Rule rule_gpu_request_limit_mismatch = {
    .id = "gpu-request-limit-mismatch",
    .severity = Severity::error,
    .kinds = "@gpu",
    .title = "request and limit of a GPU differ",
    .why = "Extended resources cannot be overcommitted, so the API server refuses the pod.",
    .fix = "set the request to the limit, or delete the request",
    .fix_safety = FixSafety::unsafe,
    .source = "Kubernetes documentation, extended resources",
    .bad = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers: [{name: a, image: "a:1", resources: {requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 2}}}]
)",
    .good = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers: [{name: a, image: "a:1", resources: {requests: {nvidia.com/gpu: 2}, limits: {nvidia.com/gpu: 2}}}]
)",
    .check = gpu_request_limit_mismatch::check,
};

}  // namespace capstan::lint
