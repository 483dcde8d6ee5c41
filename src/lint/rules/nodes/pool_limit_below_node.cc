#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "lint/pools.h"
#include "lint/rule.h"
#include "manifest/quantity.h"

namespace capstan::lint {
namespace pool_limit_below_node {
namespace {

constexpr std::int64_t kMilliPerUnit = 1000;
constexpr std::int64_t kMilliMib = kMilliPerUnit * 1024 * 1024;

/// Lower bounds of the resources of a node.
struct NodeBounds {
  std::int64_t cpus = 1;
  std::int64_t mib = 400;  ///< memory that Karpenter expects of t3.nano, with a margin
  std::int64_t gpus = 0;
  std::string what = "any instance type";
};

/// Returns true if the requirements of the pool exclude all sizes below large.
bool excludes_small_sizes(const Pool& pool) {
  const Value& entry = requirement(pool, "instance-size");
  if (entry["key"].text != "karpenter.k8s.aws/instance-size" || !entry["values"].is_sequence()) return false;
  const bool is_in = entry["operator"].is("In");
  if (!is_in && !entry["operator"].is("NotIn")) return false;
  return std::ranges::all_of(std::initializer_list<std::string_view>{"nano", "micro", "small", "medium"},
                             [&](std::string_view size) {
                               const auto is_size = [&](const Value& value) { return value.is(size); };
                               return std::ranges::any_of(entry["values"].children(), is_size) != is_in;
                             });
}

/// Returns true if the requirements allow only instances of GPU families that the table has.
bool allows_only_known_families(const Pool& pool) {
  for (const std::string_view key : {"instance-type", "instance-family"}) {
    const Value& entry = requirement(pool, key);
    if (!entry["operator"].is("In") || entry["values"].count == 0) continue;
    return std::ranges::all_of(entry["values"].children(), [](const Value& value) {
      const GpuFamily* family = gpu_family(value.text);
      return family != nullptr && family->provider == "aws";
    });
  }
  return false;
}

/// Returns bounds for the smallest node that the pool may launch.
NodeBounds smallest_node(const Pool& pool) {
  NodeBounds out;
  if (excludes_small_sizes(pool)) out = {.cpus = 2, .mib = 3000, .what = "an instance of size large"};
  const auto families = families_of(pool);
  if (!allows_only_known_families(pool) || families.empty()) return out;
  out = {.cpus = INT64_MAX, .mib = out.mib, .gpus = INT64_MAX};
  for (const GpuFamily* family : families) {
    const std::int64_t cpus = family->min_gpus * family->min_cpus_per_gpu;
    if (cpus < out.cpus) out.what = fmt::format("the smallest instance of family {}", family->family);
    out.cpus = std::min(out.cpus, cpus);
    out.gpus = std::min(out.gpus, family->min_gpus);
  }
  // If the pool lists types, the smallest of them may be larger than the smallest of its family.
  std::int64_t least = INT64_MAX;
  for (const std::string& type : instance_types_of(pool)) least = std::min(least, cpus_of_instance(type).value_or(0));
  if (least != INT64_MAX && least > out.cpus) {
    out.cpus = least;
    out.what = "the smallest instance type of its list";
  }
  return out;
}

/// Reports a limit if it is smaller than what one node has. A limit of 0 turns the pool off.
void check_limit(const Subject& s, const Value& limit, std::int64_t min_milli, const std::string& min_text,
                 const NodeBounds& node) {
  const std::optional<std::int64_t> milli = manifest::read_quantity_milli(limit.text);
  if (!milli || *milli <= 0 || *milli >= min_milli) return;
  s.report(limit, fmt::format("the limit {} {} of pool {} is smaller than {}, which has {}", limit.key, limit.text,
                              s.object.name, node.what, min_text));
}

void check(const Subject& s) {
  const std::optional<Pool> pool = pool_of(s.object);
  if (!pool || s.object.kind != "NodePool" || s.object.name.empty() || pool->limits->count == 0) return;
  const NodeBounds node = smallest_node(*pool);
  check_limit(s, (*pool->limits)["cpu"], node.cpus * kMilliPerUnit,
              node.cpus == 1 ? std::string("at least 1 CPU") : fmt::format("at least {} CPUs", node.cpus), node);
  check_limit(s, (*pool->limits)["memory"], node.mib * kMilliMib,
              node.mib < 1000 ? "at least 0.5 GiB of memory" : "more than 3 GiB of memory", node);
  check_limit(s, (*pool->limits)["nvidia.com/gpu"], node.gpus * kMilliPerUnit,
              fmt::format("at least {} GPUs", node.gpus), node);
}

}  // namespace
}  // namespace pool_limit_below_node

extern const Rule rule_pool_limit_below_node;
const Rule rule_pool_limit_below_node = {
    .id = "pool-limit-below-node",
    .severity = Severity::error,
    .kinds = "NodePool",
    .title = "the limits of a pool are smaller than its smallest node",
    .why =
        "Karpenter launches an instance only if all of it fits into the rest of the limits, so this pool never "
        "launches "
        "a node. Often the unit is wrong: 1000m are one CPU and not 1000. A limit of 0, which turns a pool off, is not "
        "reported.",
    .fix = "limit the pool to the resources of all its nodes together, such as cpu 1000 and memory 4000Gi",
    .source = "Karpenter documentation, NodePools, spec.limits; AWS EC2 instance types",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  limits: {cpu: 500m, memory: 100Gi}
  template: {spec: {requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]}}
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  limits: {cpu: 500, memory: 100Gi}
  template: {spec: {requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]}}
)",
    .check = pool_limit_below_node::check,
};

}  // namespace capstan::lint
