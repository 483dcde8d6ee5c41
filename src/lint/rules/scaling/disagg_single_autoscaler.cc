#include <fmt/format.h>

#include "lint/pods.h"
#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace disagg_single_autoscaler {
namespace {

void check(const Subject& s) {
  const std::optional<Scaler> scaler = scaler_of(s.object);
  const Object* target = target_of(*scaler, s.set);
  if (target == nullptr) return;
  bool prefill = false, decode = false;
  for (const Pod& pod : pods_of(*target)) {
    for (const Value* container : containers_of(pod)) {
      const std::string_view name = (*container)["name"].text;
      if (gpu_resources(*container).empty()) continue;
      prefill = prefill || name.find("prefill") != name.npos;
      decode = decode || name.find("decode") != name.npos;
    }
  }
  if (!prefill || !decode) return;
  s.require_object(
      s.report(*scaler->target_name,
               fmt::format("{} runs prefill and decode, but one autoscaler scales both together", target->title())),
      *target, target->name);
}

}  // namespace
}  // namespace disagg_single_autoscaler

extern const Rule rule_disagg_single_autoscaler;
const Rule rule_disagg_single_autoscaler = {
    .id = "disagg-single-autoscaler",
    .severity = Severity::info,
    .kinds = "HorizontalPodAutoscaler ScaledObject",
    .title = "prefill and decode are scaled together",
    .why =
        "Prefill needs replicas when prompts wait, and decode when the KV cache fills. With one number for both, one "
        "role has too few replicas and the other wastes GPUs. A fixed ratio may be intended, so the finding is advice.",
    .fix = "use one workload and one autoscaler per role: queue depth for prefill, KV-cache usage for decode",
    .source = "llm-d, disaggregated serving",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: llm}
spec: {scaleTargetRef: {name: llm}, minReplicaCount: 1, maxReplicaCount: 4}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: llm}
spec:
  selector: {matchLabels: {app: llm}}
  template:
    spec:
      containers:
        - {name: prefill, image: "vllm:1", resources: {limits: {nvidia.com/gpu: 1}}}
        - {name: decode, image: "vllm:1", resources: {limits: {nvidia.com/gpu: 1}}}
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: llm}
spec: {scaleTargetRef: {name: llm-decode}, minReplicaCount: 1, maxReplicaCount: 4}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: llm-decode}
spec:
  selector: {matchLabels: {app: llm}}
  template:
    spec:
      containers:
        - {name: decode, image: "vllm:1", resources: {limits: {nvidia.com/gpu: 1}}}
)",
    .check = disagg_single_autoscaler::check,
};

}  // namespace capstan::lint
