#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "lint/container_start.h"
#include "lint/contains.h"
#include "lint/pods.h"
#include "lint/query.h"
#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace gpu_util_scaling_signal {
namespace {

constexpr std::string_view kDutyCycles[] = {"dcgm_fi_dev_gpu_util",
                                            "dcgm_fi_prof_gr_engine_active",
                                            "dcgm_fi_prof_sm_active",
                                            "dcgm_fi_dev_mem_copy_util",
                                            "nv_gpu_utilization",
                                            "duty_cycle",
                                            "gpu_util",
                                            "gpu_duty"};

bool is_duty_cycle(std::string name) {
  std::ranges::transform(name, name.begin(), ascii_lower);
  return std::ranges::any_of(kDutyCycles, [&](std::string_view word) { return name.find(word) != name.npos; });
}

/// Returns true for a trigger that is only an input of a formula.
bool is_formula_input(const Subject& s, const ScalingSignal& signal) {
  const Value& formula = at(s.object, "spec.advanced.scalingModifiers.formula");
  return formula && (*signal.block)["name"] && formula.text.find((*signal.block)["name"].text) != formula.text.npos;
}

/// Reports a metric of type Resource that names a GPU. The resource metrics API has only CPU and memory.
void check_resource(const Subject& s, const ScalingSignal& signal) {
  const std::string_view name = signal.metric->text;
  if (signal.source != SignalSource::resource || (!is_gpu_resource(name) && !contains(name, "gpu"))) return;
  s.report(*signal.metric, fmt::format("the metrics server has only cpu and memory, never {}", name));
}

/// Returns the severity for a duty cycle as a signal. It is certainly wrong for an engine of language models, which
/// batches its requests. Other servers may do one piece of work at a time.
Severity severity_for(const Subject& s) {
  const std::optional<Scaler> scaler = scaler_of(s.object);
  if (!scaler) return Severity::info;  // an adapter may provide the metric for dashboards
  if (consumes_queue(*scaler, s.set)) return Severity::info;
  const Object* target = target_of(*scaler, s.set);
  const auto runs_llm = [](const GpuPod& found) {
    return runs_language_engine(found.container) && !contains(found.container["image"].text, "embed") &&
           !contains(found.container["image"].text, "rerank");
  };
  if (target != nullptr) {
    return std::ranges::any_of(gpu_pods_of(*target), runs_llm) ? Severity::error : Severity::info;
  }
  const std::string_view name = scaler->target_name->text;
  const bool names_llm = contains(name, "llm") || contains(name, "llama") || contains(name, "sglang") ||
                         contains(name, "qwen") || contains(name, "mistral");
  const bool has_llm_signal = std::ranges::any_of(
      scaler->signals, [](const ScalingSignal& signal) { return is_inference_metric(signal.metric->text); });
  return names_llm || has_llm_signal ? Severity::warning : Severity::info;
}

void check(const Subject& s) {
  for (const auto& [signal, query] : s.queries().rows()) check_resource(s, signal);
  for_each_metric_name(s.queries(), [&](const NameUse& use) {
    if (!is_duty_cycle(use.name) || is_formula_input(s, *use.signal)) return;
    const bool scales = is_scaler(s.object.kind);
    Finding& finding = s.report_span(
        use.span, fmt::format("{} is a duty cycle: 100 % can be one request or a hundred, so {} does not follow the "
                              "load",
                              use.name, scales ? "this metric" : "an autoscaler with this adapter's metric"));
    finding.set_severity(severity_for(s));
  });
}

}  // namespace
}  // namespace gpu_util_scaling_signal

extern const Rule rule_gpu_util_scaling_signal;
const Rule rule_gpu_util_scaling_signal = {
    .id = "gpu-util-scaling-signal",
    .severity = Severity::error,
    .kinds = "@scaler @adapter",
    .title = "the replicas follow the GPU's duty cycle",
    .why =
        "The duty cycle shows that a kernel ran, but not how much work it did. One request keeps an engine at 100 % "
        "just as a hundred do. The fleet stays at its maximum, or stays at the target while users wait. The finding is "
        "an error if the target runs an engine of language models, and a warning if only its name says so. For other "
        "workloads and for the rules of an adapter it is advice.",
    .fix = "use the engine's waiting requests (queue depth), KV-cache usage, or running requests",
    .source = "NVIDIA DCGM field definitions; measured in docs/guides/duty-cycle-trap.md",
    .bad = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: gpu-inference-hpa}
spec:
  scaleTargetRef: {kind: Deployment, name: inference}
  minReplicas: 2
  maxReplicas: 10
  metrics:
    - type: Pods
      pods:
        metric:
          name: DCGM_FI_DEV_GPU_UTIL
        target: {type: AverageValue, averageValue: "65"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: inference}
spec:
  selector: {matchLabels: {a: b}}
  template:
    spec:
      containers: [{name: a, image: "vllm/vllm-openai:v0.20.0", resources: {limits: {nvidia.com/gpu: 1}}}]
)",
    .good = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: gpu-inference-hpa}
spec:
  scaleTargetRef: {kind: Deployment, name: inference}
  minReplicas: 2
  maxReplicas: 10
  metrics:
    - type: Pods
      pods:
        metric:
          name: vllm_num_requests_waiting
        target: {type: AverageValue, averageValue: "5"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: inference}
spec:
  selector: {matchLabels: {a: b}}
  template:
    spec:
      containers: [{name: a, image: "vllm/vllm-openai:v0.20.0", resources: {limits: {nvidia.com/gpu: 1}}}]
)",
    .check = gpu_util_scaling_signal::check,
};

}  // namespace capstan::lint
