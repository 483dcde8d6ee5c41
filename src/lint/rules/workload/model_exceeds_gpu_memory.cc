#include <fmt/format.h>

#include "lint/gpu_memory.h"
#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace model_exceeds_gpu_memory {
namespace {

void check(const Subject& s) {
  for (const auto& [pod, container] : gpu_pods_of(s.object)) {
    const std::optional<std::int64_t> gib = selected_gpu_gib(pod);
    const auto shortage = gib ? memory_shortage(s.object, container, *gib) : std::nullopt;
    if (!shortage) continue;
    s.report(container["name"],
             fmt::format("the weights of the model have {:.0f} GB, but the GPUs of the container have "
                         "only {:.0f} GB, so the engine does not start",
                         shortage->weights_gb, shortage->memory_gb));
  }
}

}  // namespace
}  // namespace model_exceeds_gpu_memory

extern const Rule rule_model_exceeds_gpu_memory;
const Rule rule_model_exceeds_gpu_memory = {
    .id = "model-exceeds-gpu-memory",
    .severity = Severity::warning,
    .kinds = "@gpu",
    .title = "the weights of the model do not fit into the GPUs of the container",
    .why =
        "The engine ends with \"CUDA out of memory\" while it loads the weights, and the pod restarts again and again. "
        "The size comes from the name of the model, with 2 bytes per parameter unless the name states fewer. The "
        "memory comes from the node selector. Models in a folder, quantization flags and engines that span pods are "
        "not judged.",
    .fix = "request more GPUs and raise the tensor parallelism, select a larger GPU, or use a quantized model",
    .source = "specifications of the GPUs; 16 bits per parameter",
    .bad = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {a: b}}
  template:
    spec:
      nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
      containers:
        - name: a
          image: "vllm/vllm-openai:v0.20.0"
          args: [--model, meta-llama/Llama-3.3-70B-Instruct]
          resources: {limits: {nvidia.com/gpu: 1}}
)",
    .good = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {a: b}}
  template:
    spec:
      nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
      containers:
        - name: a
          image: "vllm/vllm-openai:v0.20.0"
          args: [--model, meta-llama/Llama-3.1-8B-Instruct]
          resources: {limits: {nvidia.com/gpu: 1}}
)",
    .check = model_exceeds_gpu_memory::check,
};

}  // namespace capstan::lint
