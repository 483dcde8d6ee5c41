#include "fleet/failure_domains.h"

#include <algorithm>
#include <set>

namespace capstan::fleet {
namespace {

constexpr ReplicaCount kMaxDomains = 100'000;

template <typename Visit>
void each_offering(const model::Catalog& catalog, GpuKindId gpu, Visit&& visit) {
  for (std::uint32_t p = 0; p < catalog.pools.size(); ++p) {
    for (const model::OfferingId id : catalog.pools[p].offerings) {
      const model::Offering& offering = catalog.offering(id);
      if (offering.gpu == gpu && offering.gpus > 0) visit(PoolId{p}, id, offering);
    }
  }
}

/// Returns how many more nodes with GPUs of this kind the limits of the pools allow.
ReplicaCount buyable_nodes(const Index& index, const model::Catalog& catalog, GpuKindId gpu) {
  std::map<PoolId, ReplicaCount> nodes;
  each_offering(catalog, gpu, [&](PoolId pool, model::OfferingId offering, const model::Offering&) {
    const auto sum = index.pools.find(pool);
    model::NodeAmounts used;
    if (sum != index.pools.end()) used = {.gpus = sum->second.gpus, .nodes = sum->second.nodes};
    nodes[pool] = std::max(nodes[pool], std::min(catalog.nodes_within_limits(pool, offering, used), kMaxDomains));
  });
  ReplicaCount all = 0;
  for (const auto& [pool, count] : nodes) all += count;
  return all;
}

}  // namespace

FailureDomain failure_domain_of(const Rooms& rooms, NodeId node, TopologyLevel level) {
  if (!node.valid()) return kNowhere;
  if (level == TopologyLevel::node) return node.value;
  const NodeRoom* room = rooms.find(node);
  return room == nullptr ? kNowhere : failure_domain_of(*room, node, level);
}

FailureDomain failure_domain_of(const Index& index, const Rooms& rooms, const model::Gang& gang, TopologyLevel level) {
  for (const PodId pod : gang.pods) {
    const auto row = index.pods.find(pod);
    if (row != index.pods.end() && row->second.node.valid()) {
      return failure_domain_of(rooms, row->second.node, level);
    }
  }
  return kNowhere;
}

ReplicaCount failure_domains(const Index& index, const Rooms& rooms, const model::Catalog& catalog,
                             const model::Workload& workload, TopologyLevel level) {
  if (level == TopologyLevel::node) {
    const FreeNodes* nodes = rooms.nodes_of(workload.gpu);
    const ReplicaCount existing = nodes == nullptr ? 0 : static_cast<ReplicaCount>(nodes->size());
    return std::min(kMaxDomains, existing + buyable_nodes(index, catalog, workload.gpu));
  }
  const auto* existing = rooms.domains_by_free(level, workload.gpu);
  if (level != TopologyLevel::zone) return existing == nullptr ? 0 : static_cast<ReplicaCount>(existing->size());
  std::set<DomainId> zones;
  if (existing != nullptr) {
    for (const auto& [free, zone] : *existing) zones.insert(zone);
  }
  each_offering(catalog, workload.gpu, [&](PoolId, model::OfferingId, const model::Offering& offering) {
    if (offering.zone.valid()) zones.insert(offering.zone);
  });
  return static_cast<ReplicaCount>(zones.size());
}

}  // namespace capstan::fleet
