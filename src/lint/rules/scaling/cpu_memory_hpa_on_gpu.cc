#include <fmt/format.h>

#include <algorithm>

#include "lint/container_start.h"
#include "lint/pods.h"
#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace cpu_memory_hpa_on_gpu {
namespace {

/// Returns "CPU", "memory" or "CPU and memory". A metric of another resource has no effect, because Metrics-server does
/// not measure it; the text then says so.
std::string words_for(const std::vector<ScalingSignal>& signals) {
  const auto has = [&](std::string_view resource) {
    return std::ranges::any_of(signals, [&](const ScalingSignal& signal) { return signal.metric->text == resource; });
  };
  std::string words = has("memory") ? (has("cpu") ? "CPU and memory" : "memory") : "CPU";
  const auto other = std::ranges::find_if_not(signals, is_measured);
  if (other != signals.end()) words += fmt::format(" ({} has no resource metric)", other->metric->text);
  return words;
}

void check(const Subject& s) {
  const std::optional<Scaler> scaler = scaler_of(s.object);
  const Object* target = target_of(*scaler, s.set);
  if (scaler->signals.empty() || target == nullptr || !wants_gpu(*target)) return;
  const auto is_resource = [](const ScalingSignal& signal) { return signal.source == SignalSource::resource; };
  if (!std::ranges::all_of(scaler->signals, is_resource)) return;
  // gpu-util-scaling-signal reports a resource that is not measured.
  const auto measured = std::ranges::find_if(scaler->signals, is_measured);
  if (measured == scaler->signals.end()) return;
  const std::string words = words_for(scaler->signals);
  Finding& finding =
      s.report(*measured->metric, fmt::format("{} runs on GPUs but is scaled only by {}", target->title(), words));
  const auto runs_llm = [](const GpuPod& found) { return runs_language_engine(found.container); };
  if (std::ranges::none_of(gpu_pods_of(*target), runs_llm)) finding.set_severity(Severity::info);
  s.require_object(finding, *target, target->name);
}

}  // namespace
}  // namespace cpu_memory_hpa_on_gpu

extern const Rule rule_cpu_memory_hpa_on_gpu;
const Rule rule_cpu_memory_hpa_on_gpu = {
    .id = "cpu-memory-hpa-on-gpu",
    .severity = Severity::warning,
    .kinds = "@scaler",
    .title = "a GPU workload is scaled only by CPU or memory",
    .why =
        "An engine whose GPU is fully used shows little CPU load, and its host memory hardly changes. With a hundred "
        "waiting requests the workload does not scale up, and it does not scale down either. The finding is advice if "
        "the workload runs no known engine of language models: other programs may use the CPU as much as the GPU.",
    .fix = "use the engine's waiting requests or KV-cache usage",
    .source = "KEDA and vLLM guides; samples of KServe and LeaderWorkerSet have this defect",
    .bad = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: vllm}
spec:
  scaleTargetRef: {kind: Deployment, name: vllm}
  minReplicas: 2
  maxReplicas: 4
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}]
  behavior: {scaleDown: {stabilizationWindowSeconds: 600}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: vllm}
spec:
  selector: {matchLabels: {app: vllm}}
  template:
    spec: {containers: [{name: a, image: "vllm/vllm-openai:v0.20.0", resources: {limits: {nvidia.com/gpu: 1}}}]}
)",
    .good = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: vllm}
spec:
  scaleTargetRef: {kind: Deployment, name: vllm}
  minReplicas: 2
  maxReplicas: 4
  metrics:
    - type: Pods
      pods: {metric: {name: vllm_num_requests_waiting}, target: {type: AverageValue, averageValue: "5"}}
  behavior: {scaleDown: {stabilizationWindowSeconds: 600}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: vllm}
spec:
  selector: {matchLabels: {app: vllm}}
  template:
    spec: {containers: [{name: a, image: "vllm/vllm-openai:v0.20.0", resources: {limits: {nvidia.com/gpu: 1}}}]}
)",
    .check = cpu_memory_hpa_on_gpu::check,
};

}  // namespace capstan::lint
