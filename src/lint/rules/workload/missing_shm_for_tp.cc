#include <fmt/format.h>

#include "lint/container_start.h"
#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace missing_shm_for_tp {
namespace {

bool mounts_shm(const Value& container) {
  for (const Value& mount : container["volumeMounts"].children()) {
    if (mount["mountPath"].text.starts_with("/dev/shm")) return true;
  }
  return false;
}

/// Returns true for kinds whose operators mount /dev/shm.
bool adds_shm(std::string_view kind) {
  return kind == "LLMInferenceService" || kind == "DynamoGraphDeployment" || kind.starts_with("Ray");
}

void check(const Subject& s) {
  for (const Pod& pod : pods_of(s.object)) {
    if ((*pod.spec)["hostIPC"].is("true") || adds_shm(s.object.kind)) continue;
    for (const Value* container : all_containers_of(pod)) {
      const std::optional<EngineCommand> engine = engine_of(start_of(*container));
      const std::optional<std::int64_t> gpus = engine ? wanted_gpus(*engine) : std::nullopt;
      if (gpus.value_or(0) < 2 || mounts_shm(*container) || gpu_resources(*container).empty()) continue;
      s.report((*container)["name"],
               fmt::format("the processes of {} GPUs share /dev/shm, which has only 64 MiB", *gpus))
          .mark_absence();
    }
  }
}

}  // namespace
}  // namespace missing_shm_for_tp

extern const Rule rule_missing_shm_for_tp;
const Rule rule_missing_shm_for_tp = {
    .id = "missing-shm-for-tp",
    .severity = Severity::warning,
    .kinds = "@pods",
    .title = "tensor parallelism with the default /dev/shm of 64 MiB",
    .why =
        "The processes of an engine pass tensors and messages through shared memory. With 64 MiB, NCCL fails at the "
        "start or uses a slower path.",
    .fix = "mount an emptyDir of medium Memory at /dev/shm",
    .source = "vLLM documentation, Kubernetes",
    .bad = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
    - {name: a, image: "vllm/vllm-openai:v0.11.0", args: [-tp, "2"], resources: {limits: {nvidia.com/gpu: 2}}}
)",
    .good = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  volumes: [{name: shm, emptyDir: {medium: Memory}}]
  containers:
    - name: a
      image: "vllm/vllm-openai:v0.11.0"
      args: [-tp, "2"]
      volumeMounts: [{name: shm, mountPath: /dev/shm}]
      resources: {limits: {nvidia.com/gpu: 2}}
)",
    .check = missing_shm_for_tp::check,
};

}  // namespace capstan::lint
