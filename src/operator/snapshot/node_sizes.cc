#include "operator/snapshot/node_sizes.h"

#include <cstdint>

#include "kube/well_known_labels.h"
#include "operator/view/cluster_view.h"

namespace capstan::op {
namespace {

std::int64_t cpu_of(const kube::Node& node) { return node.allocatable.get("cpu"); }
std::int64_t memory_of(const kube::Node& node) { return node.allocatable.get("memory") / 1'000 / (1 << 20); }

}  // namespace

NodeSizes::Type NodeSizes::type_of(const kube::Node& node) {
  return {std::string(node.meta.labels.get(kube::labels::kInstanceType)), gpus_up(gpus_of(node.allocatable))};
}

void NodeSizes::add(const kube::Node& node) {
  Amounts& amounts = by_type_[type_of(node)];
  amounts.cpu_milli.insert(cpu_of(node));
  amounts.memory_mib.insert(memory_of(node));
}

void NodeSizes::remove(const kube::Node& node) {
  const auto found = by_type_.find(type_of(node));
  if (found == by_type_.end()) return;
  Amounts& amounts = found->second;
  amounts.cpu_milli.erase(amounts.cpu_milli.find(cpu_of(node)));
  amounts.memory_mib.erase(amounts.memory_mib.find(memory_of(node)));
  if (amounts.cpu_milli.empty()) by_type_.erase(found);
}

NodeSize NodeSizes::largest(const FleetPolicy::InstanceType& type) const {
  const auto found = by_type_.find({type.name, type.gpus});
  if (found == by_type_.end()) return {};
  return {*found->second.cpu_milli.rbegin(), *found->second.memory_mib.rbegin()};
}

}  // namespace capstan::op
