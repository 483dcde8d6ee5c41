#include <fmt/format.h>

#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace gpu_request_without_limit {
namespace {

void check(const Subject& s) {
  for (const Pod& pod : pods_of(s.object)) {
    for (const Value* container : all_containers_of(pod)) {
      for (const GpuResource& resource : gpu_resources(*container)) {
        if (resource.name == "gpu") continue;  // the operator of Dynamo completes this resource
        if (resource.limit != nullptr || resource.request->is("0")) continue;
        Finding& finding = s.report_key(
            *resource.request,
            fmt::format("{} has a request but no limit, so the API server refuses the pod", resource.name));
        // The template that the pod is merged with may have the limit.
        if (pod_maker(s.object) == PodMaker::merged) finding.set_severity(Severity::warning);
        finding.mark_absence();
      }
    }
  }
}

}  // namespace
}  // namespace gpu_request_without_limit

extern const Rule rule_gpu_request_without_limit;
const Rule rule_gpu_request_without_limit = {
    .id = "gpu-request-without-limit",
    .severity = Severity::error,
    .kinds = "@gpu",
    .title = "a GPU is requested without a limit",
    .why = "Extended resources need a limit, so the API server refuses the pod.",
    .fix = "put the GPU under limits; Kubernetes copies it to the request",
    .source = "Kubernetes documentation, extended resources",
    .bad = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: a, image: "a:1", resources: {requests: {nvidia.com/gpu: 1}}}]}
)",
    .good = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]}
)",
    .check = gpu_request_without_limit::check,
};

}  // namespace capstan::lint
