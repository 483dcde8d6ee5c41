#include <fmt/format.h>

#include <algorithm>

#include "lint/container_start.h"
#include "lint/contains.h"
#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace engine_without_gpu {
namespace {

/// Returns true for the image of vLLM that is built for GPUs of NVIDIA.
bool needs_cuda(std::string_view image) {
  if (!contains(image, "vllm/vllm-openai")) return false;
  for (const std::string_view other : {"cpu", "rocm", "xpu", "tpu", "neuron", "hpu", "gaudi"}) {
    if (contains(image, other)) return false;
  }
  return true;
}

/// Returns true if the container asks for a resource other than CPU, memory and disk. Such a resource may be a GPU.
bool wants_device(const Value& container) {
  const Value& resources = container["resources"];
  if (resources.is_scalar() || resources["claims"]) return true;
  for (const std::string_view list : {"limits", "requests"}) {
    if (resources[list].is_scalar()) return true;
    for (const Value& amount : resources[list].children()) {
      const bool is_common = amount.key == "cpu" || amount.key == "memory" || amount.key == "ephemeral-storage" ||
                             amount.key.starts_with("hugepages-");
      if (!is_common) return true;
    }
  }
  return false;
}

/// Returns true if the pod may get a GPU in another way: from its runtime, from a device file, from a component that
/// reads labels and annotations, or from another container.
bool may_have_gpu(const Pod& pod) {
  const Value& spec = *pod.spec;
  if (spec["runtimeClassName"] || spec["resourceClaims"].count > 0 || spec["resources"]) return true;
  for (const Value& volume : spec["volumes"].children()) {
    if (at(volume, "hostPath.path").text.starts_with("/dev") || contains(at(volume, "hostPath.path").text, "nvidia"))
      return true;
  }
  for (const std::string_view list : {"labels", "annotations"}) {
    for (const Value& entry : (*pod.metadata)[list].children()) {
      if (contains(entry.key, "gpu") || contains(entry.key, "nvidia") || contains(entry.key, "inject")) return true;
    }
  }
  return std::ranges::any_of(all_containers_of(pod), [](const Value* container) { return wants_device(*container); });
}

/// Returns true if the container states which devices it uses: the CPU, or GPUs that it gets without a request.
bool states_devices(const Value& container, const EngineCommand& engine) {
  if (at(container, "securityContext.privileged").is("true") || engine.flag({"--device"})) return true;
  return std::ranges::any_of(container["env"].children(), [](const Value& variable) {
    const std::string_view name = variable["name"].text;
    return contains(name, "VISIBLE_DEVICES") || name.starts_with("VLLM_CPU") || name == "VLLM_TARGET_DEVICE";
  });
}

/// Returns true if a flag is for GPUs.
bool asks_for_gpus(const EngineCommand& engine) {
  return engine.flag({"--gpu-memory-utilization"}) || engine.number({"--tensor-parallel-size", "-tp"}).value_or(1) > 1;
}

void check(const Subject& s) {
  if (is_partial(s.object)) return;
  for (const Pod& pod : pods_of(s.object)) {
    if (may_have_gpu(pod)) continue;
    for (const Value* container : containers_of(pod)) {
      const auto engine = engine_of(start_of(*container));
      if (!engine || !needs_cuda((*container)["image"].text) || states_devices(*container, *engine)) continue;
      Finding& finding = s.report((*container)["name"],
                                  "vLLM's image for CUDA runs without a request for a GPU, so the scheduler does not "
                                  "count one for it");
      if (!asks_for_gpus(*engine)) finding.set_severity(Severity::info);
      finding.mark_absence();
    }
  }
}

}  // namespace
}  // namespace engine_without_gpu

extern const Rule rule_engine_without_gpu;
const Rule rule_engine_without_gpu = {
    .id = "engine-without-gpu",
    .severity = Severity::warning,
    .kinds = "Deployment StatefulSet",
    .title = "an engine for GPUs does not ask for a GPU",
    .why =
        "The pod may be placed on a node without GPUs, where vLLM does not start. On a GPU node it either sees no GPU, "
        "or shares those of other pods and both run out of memory. The finding is a warning if a flag of vLLM is for "
        "GPUs, and else advice.",
    .fix = "add resources.limits: {nvidia.com/gpu: 1}, or use an image for CPUs",
    .source = "vLLM documentation, Kubernetes; Kubernetes documentation, scheduling GPUs",
    .bad = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {a: b}}
  template:
    spec:
      containers:
        - name: a
          image: "vllm/vllm-openai:v0.20.0"
          args: [--model, m, --gpu-memory-utilization, "0.9"]
          resources: {limits: {cpu: 8, memory: 32Gi}}
)",
    .good = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {a: b}}
  template:
    spec:
      containers:
        - name: a
          image: "vllm/vllm-openai:v0.20.0"
          args: [--model, m, --gpu-memory-utilization, "0.9"]
          resources: {limits: {cpu: 8, memory: 32Gi, nvidia.com/gpu: 1}}
)",
    .check = engine_without_gpu::check,
};

}  // namespace capstan::lint
