#include <algorithm>

#include "lint/container_start.h"
#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace model_download_no_cache {
namespace {

/// Returns true if the container has volumes for data, and all of them are deleted with the pod.
bool has_only_empty_dirs(const Pod& pod, const Value& container) {
  bool has_any = false;
  for (const Value& mount : container["volumeMounts"].children()) {
    for (const Value& volume : (*pod.spec)["volumes"].children()) {
      if (!volume["name"].is(mount["name"].text) || volume.has("secret") || volume.has("configMap")) continue;
      if (!volume.has("emptyDir")) return false;
      has_any = true;
    }
  }
  return has_any;
}

/// Returns true if the download certainly takes long: the name of the model states at least 25 GB of weights.
bool is_large(const Pod& pod) {
  constexpr double kLargeGb = 25;
  return std::ranges::any_of(containers_of(pod),
                             [](const Value* container) { return weights_gb(*container).value_or(0) >= kLargeGb; });
}

void check(const Subject& s) {
  for (const Pod& pod : pods_of(s.object)) {
    if (!wants_gpu(pod)) continue;
    for (const Value* container : init_containers_of(pod)) {
      for (const std::vector<CommandWord>& command : commands_of(start_of(*container))) {
        if (!is_download(command) || !has_only_empty_dirs(pod, *container)) continue;
        Finding& finding = s.report_span(span_of(*s.object.file, *container, command.front()),
                                         "the model is downloaded into an emptyDir, which is deleted with the pod");
        if (!is_large(pod) || !is_surely_scaled(s.object, s.set)) finding.set_severity(Severity::info);
        break;
      }
    }
  }
}

}  // namespace
}  // namespace model_download_no_cache

extern const Rule rule_model_download_no_cache;
const Rule rule_model_download_no_cache = {
    .id = "model-download-no-cache",
    .severity = Severity::warning,
    .kinds = "@gpu",
    .title = "every start downloads the model again",
    .why =
        "A download of 140 GB over 10 Gbit/s takes two minutes in which the GPU is idle. Replicas that start at the "
        "same time share the bandwidth. The finding is a warning if an autoscaler adds replicas and the name of the "
        "model states 25 GB of weights or more. Otherwise it is advice.",
    .fix = "use a cache that outlives the pod: the node's NVMe (hostPath), or a read-only volume",
    .source = "cold-start guides",
    .bad = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  initContainers:
    - name: get
      image: "aws-cli:2"
      command: [sh, -c, aws s3 cp s3://m/ /models/ --recursive]
      volumeMounts: [{name: m, mountPath: /models}]
  containers: [{name: a, image: "vllm/vllm-openai:v0.20.0", resources: {limits: {nvidia.com/gpu: 1}}}]
  volumes: [{name: m, emptyDir: {}}]
)",
    .good = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  initContainers:
    - name: get
      image: "aws-cli:2"
      command: [sh, -c, aws s3 cp s3://m/ /models/ --recursive]
      volumeMounts: [{name: m, mountPath: /models}]
  containers: [{name: a, image: "vllm/vllm-openai:v0.20.0", resources: {limits: {nvidia.com/gpu: 1}}}]
  volumes: [{name: m, hostPath: {path: /mnt/nvme/models}}]
)",
    .check = model_download_no_cache::check,
};

}  // namespace capstan::lint
