#pragma once

#include <string>
#include <vector>

#include "model/eligibility.h"
#include "model/ids.h"
#include "model/offering.h"
#include "model/queue.h"
#include "model/service.h"
#include "model/topology.h"

namespace capstan::model {

/// The configuration of a cluster: services, pools, queues, prices and the tree of domains. It changes only when a
/// person edits it. Ids index these vectors.
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
  /// Narrowest topology level at which a launch can choose the domain of its nodes. With `node` it can choose a domain
  /// of any level.
  TopologyLevel launches_into = TopologyLevel::node;

  const std::string& gpu_kind(GpuKindId id) const { return gpu_kinds.at(id.value); }
  const Domain& domain(DomainId id) const { return domains.at(id.value); }
  const Offering& offering(OfferingId id) const { return offerings.at(id.value); }
  const Pool& pool(PoolId id) const { return pools.at(id.value); }
  const Queue& queue(QueueId id) const { return queues.at(id.value); }
  const Service& service(ServiceId id) const { return services.at(id.value); }

  /// Returns true if `inner` is the domain `outer` or lies inside it.
  bool lies_within(DomainId inner, DomainId outer) const {
    while (inner.valid() && inner != outer) inner = domain(inner).parent;
    return inner.valid();
  }
};

}  // namespace capstan::model
