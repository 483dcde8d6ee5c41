#pragma once

#include <cstdint>
#include <map>

#include "base/quantity.h"
#include "fleet/index.h"
#include "model/catalog.h"

// Failure domains of a service that must survive the loss of one domain (model::Service::survives): the domains in
// which its replicas run, and those in which they could run.
namespace capstan::fleet {

/// Id of a domain of the level that the service must survive. At level `node` it is the id of a node.
using FailureDomain = std::uint32_t;
inline constexpr FailureDomain kNowhere = UINT32_MAX;

/// Returns the failure domain of a node. `room` is the room of that node.
inline FailureDomain failure_domain_of(const NodeRoom& room, NodeId node, TopologyLevel level) {
  return level == TopologyLevel::node ? node.value : room.domains.domain_at(level).value;
}

FailureDomain failure_domain_of(const Rooms& rooms, NodeId node, TopologyLevel level);

/// Returns the domain in which a replica runs. If it spans several, returns the domain of its first pod with a node.
/// @param rooms  rooms of the index, or its assumed rooms
FailureDomain failure_domain_of(const Index& index, const Rooms& rooms, const model::Gang& gang, TopologyLevel level);
inline FailureDomain failure_domain_of(const Index& index, const model::Gang& gang, TopologyLevel level) {
  return failure_domain_of(index, index.rooms, gang, level);
}

/// Returns the number of domains of the level that have nodes with the workload's kind of GPU or in which such nodes
/// could be bought. At level `node`, every node that the pools' limits still allow counts. At level `rack`, only racks
/// with existing nodes count.
/// @param rooms  rooms of the index, or its assumed rooms
ReplicaCount failure_domains(const Index& index, const Rooms& rooms, const model::Catalog& catalog,
                             const model::Workload& workload, TopologyLevel level);
inline ReplicaCount failure_domains(const Index& index, const model::Catalog& catalog, const model::Workload& workload,
                                    TopologyLevel level) {
  return failure_domains(index, index.rooms, catalog, workload, level);
}

/// Returns the most replicas in one domain when they are spread evenly.
inline ReplicaCount even_share(ReplicaCount replicas, ReplicaCount domains) {
  return domains <= 1 ? replicas : ceil_div(replicas, domains);
}

}  // namespace capstan::fleet
