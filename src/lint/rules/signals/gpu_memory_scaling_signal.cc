#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "lint/container_start.h"
#include "lint/pods.h"
#include "lint/query.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace gpu_memory_scaling_signal {
namespace {

constexpr std::string_view kMemory[] = {"dcgm_fi_dev_fb_used", "dcgm_fi_dev_fb_free", "nv_gpu_memory", "gpu_memory",
                                        "gpu_mem_used"};

/// Returns the severity for the GPU memory as a signal. An engine of language models reserves it at its start. Other
/// programs may allocate it for their work.
Severity severity_for(const Subject& s) {
  const std::optional<Scaler> scaler = scaler_of(s.object);
  if (!scaler) return Severity::info;  // an adapter may provide the metric for dashboards
  const Object* target = target_of(*scaler, s.set);
  if (target == nullptr) return Severity::warning;
  const auto runs_llm = [](const GpuPod& found) { return runs_language_engine(found.container); };
  return std::ranges::any_of(gpu_pods_of(*target), runs_llm) ? Severity::error : Severity::info;
}

void check(const Subject& s) {
  for_each_metric_name(s.queries(), [&](const NameUse& use) {
    std::string name = use.name;
    std::ranges::transform(name, name.begin(), ascii_lower);
    if (std::ranges::none_of(kMemory, [&](std::string_view word) { return name.find(word) != name.npos; })) return;
    Finding& finding =
        s.report_span(use.span, fmt::format("{} depends on the models that are loaded, not on the load", use.name));
    finding.set_severity(severity_for(s));
  });
}

}  // namespace
}  // namespace gpu_memory_scaling_signal

extern const Rule rule_gpu_memory_scaling_signal;
const Rule rule_gpu_memory_scaling_signal = {
    .id = "gpu-memory-scaling-signal",
    .severity = Severity::error,
    .kinds = "@scaler @adapter",
    .title = "the replicas follow the GPU memory",
    .why =
        "An engine reserves GPU memory once, at its start. The memory is as full with one request as with a hundred, "
        "so the fleet never shrinks, or never grows. The finding is a warning if the input lacks the target. It is "
        "advice "
        "if the target runs no such engine, and for the rules of an adapter.",
    .fix = "use the engine's KV-cache usage or waiting requests",
    .source = "vLLM --gpu-memory-utilization; measured in docs/guides/memory-trap.md",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers: [{type: prometheus, metadata: {query: 'avg(DCGM_FI_DEV_FB_USED)', threshold: "60000"}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {a: b}}
  template:
    spec:
      containers: [{name: a, image: "vllm/vllm-openai:v0.20.0", resources: {limits: {nvidia.com/gpu: 1}}}]
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers:
    - {type: prometheus, metadata: {query: 'sum(vllm:kv_cache_usage_perc{namespace="a"})', threshold: "0.8"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {a: b}}
  template:
    spec:
      containers: [{name: a, image: "vllm/vllm-openai:v0.20.0", resources: {limits: {nvidia.com/gpu: 1}}}]
)",
    .check = gpu_memory_scaling_signal::check,
};

}  // namespace capstan::lint
