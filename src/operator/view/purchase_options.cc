#include "operator/view/purchase_options.h"

#include <algorithm>

#include "engine/instances.h"
#include "kube/well_known_labels.h"
#include "model/capacity_names.h"
#include "model/resources.h"

namespace capstan::op {
namespace {

using kube::labels::kCapacityType;
using kube::labels::kGpuProduct;
using kube::labels::kInstanceType;
using kube::labels::kNodePool;
using kube::labels::kZone;

constexpr std::string_view kOnDemand = model::name(model::CapacityType::on_demand).label;
/// Capacity types in Karpenter's order of preference.
constexpr std::string_view kCapacities[] = {model::name(model::CapacityType::reserved).label, kOnDemand,
                                            model::name(model::CapacityType::spot).label};

/// Returns true if a node of the pool may have this value of a label.
bool allows(const kube::NodePool& pool, std::string_view key, const std::string& value) {
  if (const std::string* fixed = pool.labels.find(key); fixed != nullptr && *fixed != value) return false;
  const kube::StringMap one{{std::string(key), value}};
  return std::ranges::all_of(pool.node.requirements,
                             [&](const kube::Requirement& r) { return r.key != key || holds(r, one); });
}

bool restricts(const kube::NodePool& pool, std::string_view key) {
  return std::ranges::any_of(pool.node.requirements, [&](const kube::Requirement& r) { return r.key == key; });
}

/// Returns the values of a label that the pool allows, from its own list or, if it has none, from `otherwise`.
std::vector<std::string> values_of(const kube::NodePool& pool, std::string_view key, const auto& otherwise) {
  std::vector<std::string> values;
  for (const kube::Requirement& r : pool.node.requirements) {
    if (r.key == key && r.op == "In") values = r.values;
  }
  if (values.empty()) values.assign(std::begin(otherwise), std::end(otherwise));
  std::erase_if(values, [&](const std::string& value) { return !allows(pool, key, value); });
  return values;
}

/// Returns the labels that every node of the pool has.
kube::StringMap labels_of(const kube::NodePool& pool) {
  kube::StringMap labels = pool.labels;
  labels.set(kNodePool, pool.meta.name);
  for (const kube::Requirement& r : pool.node.requirements) {
    if (r.op == "In" && r.values.size() == 1) labels.set(r.key, r.values.front());
  }
  return labels;
}

bool sells(const kube::NodePool& pool) {
  const kube::Condition* ready = kube::find_condition(pool.conditions, "Ready");
  return !pool.replicas && !pool.meta.terminating() && (ready == nullptr || !ready->is_false);
}

}  // namespace

model::InstanceType with_resources(const FleetPolicy::InstanceType& type, const NodeSize& existing) {
  model::InstanceType row{.name = type.name,
                          .cpu_milli = type.cpu_milli,
                          .memory_mib = type.memory_mib,
                          .storage_mib = type.storage_mib,
                          .pod_slots = type.pod_slots};
  const engine::Instance* known = engine::find_instance(type.name);
  // Another cloud may use the same name for another machine.
  const bool is_listed = known != nullptr && known->gpus == type.gpus;
  if (!row.cpu_milli && is_listed && known->vcpus > 0) row.cpu_milli = known->vcpus * 1'000;
  if (!row.memory_mib && is_listed && known->memory_gib > 0) row.memory_mib = known->memory_gib * 1'024;
  if (!row.cpu_milli && existing.cpu_milli > 0) row.cpu_milli = existing.cpu_milli;
  if (!row.memory_mib && existing.memory_mib > 0) row.memory_mib = existing.memory_mib;
  if (!row.storage_mib && existing.storage_mib > 0) row.storage_mib = existing.storage_mib;
  if (!row.pod_slots && existing.pod_slots > 0) row.pod_slots = existing.pod_slots;
  return row;
}

std::optional<std::vector<std::int64_t>> extended_of(const FleetPolicy::InstanceType& type,
                                                     const std::vector<FleetPolicy::InstanceType>& all,
                                                     const std::vector<std::string>& names) {
  std::vector<std::int64_t> amounts;
  bool any_known = false;
  for (const std::string& name : names) {
    const auto stated = type.resources.find(name);
    const bool is_known = !type.resources.empty() ||
                          std::ranges::any_of(all, [&](const auto& other) { return other.resources.contains(name); });
    any_known = any_known || is_known;
    amounts.push_back(stated != type.resources.end() ? stated->second : is_known ? 0 : model::kUnlimited);
  }
  return any_known ? std::optional(std::move(amounts)) : std::nullopt;
}

std::vector<PurchaseOption> purchase_options(const kube::NodePool& pool,
                                             const std::vector<FleetPolicy::InstanceType>& types,
                                             const std::set<std::string>& zones) {
  std::vector<PurchaseOption> options;
  if (!sells(pool)) return options;
  const kube::StringMap common = labels_of(pool);
  std::vector<std::string> sold_in = values_of(pool, kZone, zones);
  if (sold_in.empty() && !restricts(pool, kZone)) sold_in.emplace_back();
  // As in Karpenter, a pool that states no capacity type sells on-demand nodes.
  std::vector<std::string> capacities(std::begin(kCapacities), std::end(kCapacities));
  if (!restricts(pool, kCapacityType)) capacities = {std::string(kOnDemand)};
  std::erase_if(capacities, [&](const std::string& capacity) { return !allows(pool, kCapacityType, capacity); });
  for (const FleetPolicy::InstanceType& type : types) {
    if (!allows(pool, kInstanceType, type.name) || !allows(pool, kGpuProduct, type.gpu)) continue;
    for (const std::string& zone : sold_in) {
      for (const std::string& capacity : capacities) {
        PurchaseOption option{.type = &type, .zone = zone, .capacity = capacity, .labels = common};
        option.labels.set(kInstanceType, type.name);
        option.labels.set(kGpuProduct, type.gpu);
        if (!zone.empty()) option.labels.set(kZone, zone);
        option.labels.set(kCapacityType, capacity);
        options.push_back(std::move(option));
      }
    }
  }
  return options;
}

}  // namespace capstan::op
