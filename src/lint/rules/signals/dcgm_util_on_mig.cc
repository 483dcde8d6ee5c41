#include <fmt/format.h>

#include "lint/pods.h"
#include "lint/query.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace dcgm_util_on_mig {
namespace {

bool uses_slices(const Object* target) {
  if (target == nullptr) return false;
  for (const Pod& pod : pods_of(*target)) {
    for (const GpuResource& resource : gpu_resources(gpu_container(pod))) {
      if (resource.name.starts_with("nvidia.com/mig-")) return true;
    }
  }
  return false;
}

void check(const Subject& s) {
  const Object* target = target_of(*scaler_of(s.object), s.set);
  const bool is_on_slices = uses_slices(target);
  for_each_metric_name(s.queries(), [&](const NameUse& use) {
    const bool is_utilization = use.name.starts_with("DCGM_FI_DEV_") && use.name.ends_with("_UTIL");
    const bool selects_slices = use.signal->metric->text.find("GPU_I_") != std::string_view::npos;
    if (!is_utilization || (!is_on_slices && !selects_slices)) return;
    Finding& finding = s.report_span(use.span, fmt::format("{} does not exist for MIG slices", use.name));
    if (!selects_slices) s.require_object(finding, *target, target->name);
  });
}

}  // namespace
}  // namespace dcgm_util_on_mig

extern const Rule rule_dcgm_util_on_mig;
const Rule rule_dcgm_util_on_mig = {
    .id = "dcgm-util-on-mig",
    .severity = Severity::error,
    .kinds = "@scaler",
    .title = "this DCGM metric does not exist for MIG slices",
    .why = "GPU_UTIL of a slice is 0 or missing, so the workload never scales up.",
    .fix = "use the engine's waiting requests; for dashboards use DCGM_FI_PROF_GR_ENGINE_ACTIVE",
    .source = "NVIDIA/dcgm-exporter issues 216, 430",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: a}
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers: [{type: prometheus, metadata: {query: 'avg(DCGM_FI_DEV_GPU_UTIL{GPU_I_ID="1"})', threshold: "50"}}]
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: a}
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers:
    - {type: prometheus, metadata: {query: 'sum(vllm:num_requests_waiting{namespace="a"})', threshold: "5"}}
)",
    .check = dcgm_util_on_mig::check,
};

}  // namespace capstan::lint
