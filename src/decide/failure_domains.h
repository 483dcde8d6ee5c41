#pragma once

#include <cstdint>
#include <map>

#include "base/quantity.h"
#include "decide/index.h"
#include "model/catalog.h"

// Failure domains of a service that must survive the loss of one (model::Service::survives): where its replicas run and
// where they could.
namespace capstan::decide {

/// The id of a domain of the level, or of a node for level `node`.
using FailureDomain = std::uint32_t;
inline constexpr FailureDomain kNowhere = UINT32_MAX;

FailureDomain failure_domain_of(const Rooms& rooms, NodeId node, TopologyLevel level);

/// Returns the domain in which a replica runs; for one that spans several, that of its first pod with a node.
FailureDomain failure_domain_of(const Index& index, const model::Gang& gang, TopologyLevel level);

/// Returns the number of domains of the level with nodes for the variant, or in which such nodes could be bought: for
/// level `node` as many as the pools' limits allow, for `rack` only those with existing nodes.
ReplicaCount failure_domains(const Index& index, const model::Catalog& catalog, const model::Variant& variant,
                             TopologyLevel level);

/// Returns the most replicas in one domain when they are spread evenly.
inline ReplicaCount even_share(ReplicaCount replicas, ReplicaCount domains) {
  return domains <= 1 ? replicas : ceil_div(replicas, domains);
}

}  // namespace capstan::decide
