#include <fmt/format.h>

#include <algorithm>

#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace fractional_gpu {
namespace {

/// Returns true for "0.5" and "500m", and false for "1.0" and "1000m".
bool is_fraction(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789.m") != text.npos) return false;
  const std::size_t dot = text.find('.');
  if (text.ends_with('m')) return !text.ends_with("000m");
  return dot != text.npos && text.find_first_not_of('0', dot + 1) != text.npos;
}

void check(const Subject& s) {
  for (const Pod& pod : pods_of(s.object)) {
    for (const Value* container : all_containers_of(pod)) {
      for (const GpuResource& resource : gpu_resources(*container)) {
        if (!is_fraction(resource.quantity().text)) continue;
        s.report(resource.quantity(), fmt::format("{} of {} is requested, but GPUs are counted in whole numbers",
                                                  resource.quantity().text, resource.name));
      }
    }
  }
}

}  // namespace
}  // namespace fractional_gpu

extern const Rule rule_fractional_gpu;
const Rule rule_fractional_gpu = {
    .id = "fractional-gpu",
    .severity = Severity::error,
    .kinds = "@gpu",
    .title = "a fraction of a GPU is requested",
    .why = "GPUs are counted in whole numbers. The API server refuses \"0.5\" and \"500m\".",
    .fix = "use a MIG slice (nvidia.com/mig-1g.10gb), time-slicing, or the fractions of KAI (annotation gpu-fraction)",
    .source = "Kubernetes documentation: extended resources are integers",
    .bad = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: "0.5"}}}]}
)",
    .good = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/mig-1g.10gb: 1}}}]}
)",
    .check = fractional_gpu::check,
};

}  // namespace capstan::lint
