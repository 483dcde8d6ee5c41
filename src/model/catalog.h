#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/known_row.h"
#include "model/eligibility.h"
#include "model/ids.h"
#include "model/offering.h"
#include "model/pool.h"
#include "model/queue.h"
#include "model/service.h"
#include "model/topology.h"

namespace capstan::model {

/// The configuration of a cluster: services, pools, queues, prices, and topologies with their domains. It changes
/// seldom: when a person edits it, or when nodes or pods with new labels or requests appear. Ids index these vectors.
struct Catalog {
  std::vector<std::string> gpu_kinds;
  std::vector<Domain> domains;
  std::vector<Offering> offerings;
  std::vector<Pool> pools;
  std::vector<Queue> queues;
  std::vector<Service> services;
  FleetLimits limits;
  std::vector<std::string> extended_resources{};  ///< names, such as "nvidia.com/mig-1g.10gb"
  Eligibility eligibility{};
  std::vector<Topology> topologies = {standard_topology()};  ///< the standard topology is the first one
  std::vector<InstanceType> instance_types{};

  const std::string& gpu_kind(GpuKindId id) const { return known_row(gpu_kinds, id.value); }
  const Domain& domain(DomainId id) const { return known_row(domains, id.value); }
  const Offering& offering(OfferingId id) const { return known_row(offerings, id.value); }
  const Pool& pool(PoolId id) const { return known_row(pools, id.value); }
  const Queue& queue(QueueId id) const { return known_row(queues, id.value); }
  const Service& service(ServiceId id) const { return known_row(services, id.value); }

  /// Returns the resources other than GPUs of an empty node of the offering, or no value if the offering states no
  /// instance type. A resource whose amount is not known limits no pod.
  std::optional<Resources> resources_of_new_node(OfferingId id) const {
    const InstanceTypeId type = offering(id).type;
    if (!type.valid()) return std::nullopt;
    const InstanceType& stated = known_row(instance_types, type.value);
    Resources empty{.cpu_milli = stated.cpu_milli.value_or(kUnlimited),
                    .memory_mib = stated.memory_mib.value_or(kUnlimited),
                    .storage_mib = stated.storage_mib.value_or(kUnlimited),
                    .pod_slots = stated.pod_slots.value_or(kUnlimited),
                    .extended = std::vector<std::int64_t>(extended_resources.size(), kUnlimited)};
    for (std::size_t i = 0; stated.extended && i < empty.extended.size(); ++i) {
      empty.extended[i] = i < stated.extended->size() ? (*stated.extended)[i] : 0;
    }
    return empty;
  }

  /// Returns the amounts of `count` nodes of the offering. An amount that is not known counts as 0.
  NodeAmounts amounts_of(OfferingId id, std::int64_t count) const;
  /// Returns true if the pool has a limit on an amount, such as memory, that is not known for nodes of the offering.
  bool lacks_limited_amount(PoolId pool, OfferingId offering) const;
  /// Returns how many more nodes of the offering its pool may buy. `in_use` are the amounts of the nodes that the pool
  /// has already. Returns 0 if the pool limits an amount that is not known for the offering.
  std::int64_t nodes_within_limits(PoolId pool, OfferingId offering, const NodeAmounts& in_use = {}) const;

  std::string level_key(Level level) const { return model::level_key(topologies, level); }
  std::string_view level_words(Level level) const { return model::level_words(topologies, level); }
  /// Returns true if a launch can choose the domain of its nodes at this level.
  bool is_chosen_at_launch(Level level) const {
    const std::optional<LevelPosition> at = position_of(topologies, level);
    return at && topologies[at->topology].levels[at->depth].is_chosen_at_launch;
  }

  /// Returns true if `inner` is the domain `outer` or lies inside it.
  bool lies_within(DomainId inner, DomainId outer) const {
    while (inner.valid() && inner != outer) inner = domain(inner).parent;
    return inner.valid();
  }
};

}  // namespace capstan::model
