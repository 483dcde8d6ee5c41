#include "operator/snapshot/node_sizes.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "kube/well_known_labels.h"
#include "operator/view/cluster_view.h"

namespace capstan::op {
namespace {

/// An upper bound that no node reaches, and the largest amount in a snapshot file.
constexpr std::int64_t kMaxNodeMilli = std::int64_t{1} << 58;

std::int64_t milli_of(const kube::Node& node, std::string_view name) {
  return std::clamp<std::int64_t>(node.allocatable.get(name), 0, kMaxNodeMilli);
}
std::int64_t cpu_of(const kube::Node& node) { return milli_of(node, "cpu"); }
std::int64_t memory_of(const kube::Node& node) { return milli_of(node, "memory") / 1'000 / (1 << 20); }
std::int64_t storage_of(const kube::Node& node) { return milli_of(node, "ephemeral-storage") / 1'000 / (1 << 20); }
std::int64_t pod_slots_of(const kube::Node& node) { return milli_of(node, "pods") / 1'000; }

}  // namespace

NodeSizes::Type NodeSizes::type_of(const kube::Node& node) {
  return {std::string(node.meta.labels.get(kube::labels::kInstanceType)), gpus_up(gpus_of(node.allocatable))};
}

void NodeSizes::add(const kube::Node& node) {
  Amounts& amounts = by_type_[type_of(node)];
  amounts.cpu_milli.insert(cpu_of(node));
  amounts.memory_mib.insert(memory_of(node));
  amounts.storage_mib.insert(storage_of(node));
  amounts.pod_slots.insert(pod_slots_of(node));
}

void NodeSizes::remove(const kube::Node& node) {
  const auto found = by_type_.find(type_of(node));
  if (found == by_type_.end()) return;
  Amounts& amounts = found->second;
  amounts.cpu_milli.erase(amounts.cpu_milli.find(cpu_of(node)));
  amounts.memory_mib.erase(amounts.memory_mib.find(memory_of(node)));
  amounts.storage_mib.erase(amounts.storage_mib.find(storage_of(node)));
  amounts.pod_slots.erase(amounts.pod_slots.find(pod_slots_of(node)));
  if (amounts.cpu_milli.empty()) by_type_.erase(found);
}

NodeSize NodeSizes::largest(const FleetPolicy::InstanceType& type) const {
  const auto found = by_type_.find({type.name, type.gpus});
  if (found == by_type_.end()) return {};
  const Amounts& amounts = found->second;
  return {*amounts.cpu_milli.rbegin(), *amounts.memory_mib.rbegin(), *amounts.storage_mib.rbegin(),
          *amounts.pod_slots.rbegin()};
}

}  // namespace capstan::op
