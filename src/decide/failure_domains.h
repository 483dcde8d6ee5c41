#pragma once

#include <cstdint>
#include <map>

#include "base/quantity.h"
#include "decide/index.h"
#include "model/catalog.h"

// Of a service that is to survive the loss of a domain (model::Service::survives): where its replicas stand, and where
// they could.
namespace capstan::decide {

/// A domain of the level, or a node at level `node`, by the value of its id.
using FailureDomain = std::uint32_t;
inline constexpr FailureDomain kNowhere = UINT32_MAX;

FailureDomain failure_domain_of(const Rooms& rooms, NodeId node, TopologyLevel level);

/// Where a replica stands: of one that spans several, where its first pod with a node does.
FailureDomain failure_domain_of(const Index& index, const model::Gang& gang, TopologyLevel level);

/// Domains of the level with nodes for the variant, and those that nodes for it could be bought in: of nodes as many as
/// the pools' limits leave, of racks only those that have some.
ReplicaCount failure_domains(const Index& index, const model::Catalog& catalog, const model::Variant& variant,
                             TopologyLevel level);

/// How many of so many replicas one domain holds where they are spread evenly.
inline ReplicaCount even_share(ReplicaCount replicas, ReplicaCount domains) {
  return domains <= 1 ? replicas : ceil_div(replicas, domains);
}

}  // namespace capstan::decide
