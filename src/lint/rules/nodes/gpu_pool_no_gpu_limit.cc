#include <fmt/format.h>

#include "lint/pools.h"
#include "lint/rule.h"
#include "manifest/quantity.h"

namespace capstan::lint {
namespace gpu_pool_no_gpu_limit {
namespace {

constexpr std::int64_t kMinCpusPerGpu = 4;     ///< CPUs per GPU of the smallest GPU instances of AWS, Azure and GCP
constexpr std::int64_t kMinMemoryPerGpu = 15;  ///< memory per GPU of these instances, GB
constexpr std::int64_t kFewGpus = 32;          ///< number of GPUs up to which another limit is taken as one on GPUs

/// A limit on another resource, and the number of GPUs that it allows.
struct IndirectLimit {
  std::string_view resource;
  std::int64_t gpus = 0;
};

/// Returns the limit that allows the fewest GPUs; none if neither CPUs nor memory are limited by a quantity.
std::optional<IndirectLimit> tightest_limit(const Value& limits) {
  constexpr std::int64_t kMilliGb = 1000LL * 1000 * 1000 * 1000;
  std::optional<IndirectLimit> tightest;
  if (const auto milli = manifest::read_quantity_milli(limits["cpu"].text))
    tightest = {.resource = "CPU", .gpus = *milli / 1000 / kMinCpusPerGpu};
  if (const auto milli = manifest::read_quantity_milli(limits["memory"].text)) {
    const std::int64_t gpus = *milli / kMilliGb / kMinMemoryPerGpu;
    if (!tightest || gpus < tightest->gpus) tightest = {.resource = "memory", .gpus = gpus};
  }
  return tightest;
}

void check(const Subject& s) {
  const std::optional<Pool> pool = gpu_pool_of(s.object);
  if (!pool || s.object.name.empty() || (*pool->spec)["replicas"]) return;
  for (const Value& limit : pool->limits->children()) {
    if (limit.key == "nodes" || limit.key.find("gpu") != limit.key.npos ||
        limit.key.find("accelerator") != limit.key.npos)
      return;
  }
  const std::optional<IndirectLimit> limit = tightest_limit(*pool->limits);
  if (limit && limit->gpus <= kFewGpus) return;
  if (limit) {
    s.report_key(*pool->limits,
                 fmt::format("GPU pool {} has no limit on its GPUs, and its {} limit allows up to {} of them",
                             s.object.name, limit->resource, limit->gpus))
        .mark_absence();
  } else if (*pool->limits) {
    s.report_key(*pool->limits, fmt::format("the limits of GPU pool {} do not limit its GPUs", s.object.name))
        .mark_absence();
  } else {
    s.report_object(fmt::format("GPU pool {} has no limits", s.object.name)).mark_absence();
  }
}

}  // namespace
}  // namespace gpu_pool_no_gpu_limit

extern const Rule rule_gpu_pool_no_gpu_limit;
const Rule rule_gpu_pool_no_gpu_limit = {
    .id = "gpu-pool-no-gpu-limit",
    .severity = Severity::warning,
    .kinds = "@pool",
    .title = "a pool has no limit on its GPUs",
    .why =
        "With a high CPU limit only, a faulty autoscaler can launch GPU nodes until the quota is used up. A well-known "
        "bill was 15,000 dollars for a weekend. A limit on CPUs or memory that allows at most 32 GPUs is enough.",
    .fix = "add limits: {nvidia.com/gpu: N}",
    .source = "Karpenter documentation, limits",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {cpu: 2000}
  template: {spec: {requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [g6e]}]}}
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {cpu: 2000, nvidia.com/gpu: 16}
  template: {spec: {requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [g6e]}]}}
)",
    .check = gpu_pool_no_gpu_limit::check,
};

}  // namespace capstan::lint
