#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "lint/pools.h"
#include "lint/rule.h"
#include "manifest/quantity.h"

namespace capstan::lint {
namespace gpu_pool_no_gpu_limit {
namespace {

constexpr std::int64_t kMinCpusPerGpu = 4;    ///< CPUs per GPU of the smallest GPU instances of AWS, Azure and GCP
constexpr std::int64_t kMinMemoryPerCpu = 4;  ///< memory per CPU of these instances, GiB
constexpr std::int64_t kFewGpus = 32;         ///< up to this many GPUs, a CPU or memory limit replaces a GPU limit
constexpr std::int64_t kManyGpus = 200;       ///< up to this number, a CPU or memory limit may be meant as a GPU limit
constexpr std::int64_t kNoLimit = INT64_MAX;

/// A limit on CPUs or memory, and the number of GPUs that it allows.
struct IndirectLimit {
  std::string_view resource;
  std::int64_t gpus = 0;
};

/// The limits of a pool: CPUs, and memory in GiB.
struct Limits {
  std::int64_t cpus = kNoLimit;
  std::int64_t memory = kNoLimit;
};

Limits limits_of(const Value& limits) {
  constexpr std::int64_t kMilliGib = 1000LL * 1024 * 1024 * 1024;
  Limits out;
  if (const auto milli = manifest::read_quantity_milli(limits["cpu"].text)) out.cpus = *milli / 1000;
  if (const auto milli = manifest::read_quantity_milli(limits["memory"].text)) out.memory = *milli / kMilliGib;
  return out;
}

/// Returns the tighter of the limits on CPUs and memory for a pool of equal nodes, and the number of GPUs of all nodes
/// that it allows. A node has `cpus` CPUs, `memory` GiB of memory and `gpus` GPUs.
IndirectLimit limit_for(const Limits& limits, std::int64_t cpus, std::int64_t memory, std::int64_t gpus) {
  const std::int64_t by_cpus = limits.cpus == kNoLimit ? kNoLimit : limits.cpus / cpus * gpus;
  const std::int64_t by_memory = limits.memory == kNoLimit ? kNoLimit : limits.memory / memory * gpus;
  return by_cpus <= by_memory ? IndirectLimit{.resource = "CPU", .gpus = by_cpus}
                              : IndirectLimit{.resource = "memory", .gpus = by_memory};
}

/// Returns the number of GPUs that the limits on CPUs and memory allow, and the resource that decides it. If the pool
/// allows several instance types, the result is for the type with the highest number. Returns none if neither CPUs nor
/// memory are limited by a quantity.
std::optional<IndirectLimit> indirect_limit(const Pool& pool) {
  const Limits limits = limits_of(*pool.limits);
  if (limits.cpus == kNoLimit && limits.memory == kNoLimit) return std::nullopt;
  std::optional<IndirectLimit> widest;
  const auto add = [&](const IndirectLimit& limit) {
    if (!widest || limit.gpus > widest->gpus) widest = limit;
  };
  for (const std::string& type : instance_types_of(pool)) {
    const GpuFamily* family = gpu_family(type);
    const std::optional<std::int64_t> cpus = cpus_of_instance(type), gpus = gpus_of_instance(type);
    if (family != nullptr && cpus && gpus) add(limit_for(limits, *cpus, *cpus * family->min_memory_per_cpu, *gpus));
  }
  if (widest) return widest;
  for (const GpuFamily* family : families_of(pool)) {
    const std::int64_t cpus = family->min_cpus_per_gpu;
    add(limit_for(limits, cpus, cpus * family->min_memory_per_cpu, 1));
  }
  return widest ? widest : limit_for(limits, kMinCpusPerGpu, kMinCpusPerGpu * kMinMemoryPerCpu, 1);
}

/// Returns true if the pool lists families or instance types of which the table has none. The number of GPUs is then
/// unknown.
bool names_no_known_type(const Pool& pool) {
  const bool lists = requirement(pool, "instance-family")["operator"].is("In") ||
                     requirement(pool, "instance-type")["operator"].is("In");
  return lists && families_of(pool).empty();
}

void check(const Subject& s) {
  const std::optional<Pool> pool = gpu_pool_of(s.object);
  if (!pool || s.object.name.empty() || (*pool->spec)["replicas"]) return;
  for (const Value& limit : pool->limits->children()) {
    if (limit.key == "gpu" || limit.key == "gpus") {
      s.report_key(limit, fmt::format("nodes have no resource {}, so this does not limit GPU pool {}", limit.key,
                                      s.object.name));
      return;
    }
    if (limit.key == "nodes" || limit.key.find("gpu") != limit.key.npos ||
        limit.key.find("accelerator") != limit.key.npos)
      return;
  }
  const std::optional<IndirectLimit> limit = indirect_limit(*pool);
  if (limit && limit->gpus <= kFewGpus) return;
  if (limit) {
    const std::string allowed = names_no_known_type(*pool)
                                    ? fmt::format("only one on its {}", limit->resource)
                                    : fmt::format("its {} limit allows up to {} of them", limit->resource, limit->gpus);
    Finding& finding = s.report_key(
        *pool->limits, fmt::format("GPU pool {} has no limit on its GPUs, and {}", s.object.name, allowed));
    finding.mark_absence();
    if (limit->gpus <= kManyGpus) finding.set_severity(Severity::info);
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
        "bill was 15,000 dollars for a weekend. A limit on CPUs or memory that allows at most 32 GPUs of the pool's "
        "instance types is enough; up to 200 GPUs the finding is advice.",
    .fix = "add limits: {nvidia.com/gpu: N}, with the name of the resource that the nodes have",
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
