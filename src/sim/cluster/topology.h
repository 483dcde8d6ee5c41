#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/catalog.h"

namespace capstan::sim {

/// The shape of a regular tree of domains.
struct TopologyLayout {
  std::vector<std::string> zones = {"zone-a"};
  std::int64_t racks_per_zone = 4;
  std::int64_t nvlink_domains_per_rack = 4;  ///< one per node with HGX machines, one per rack with NVL72
};

/// Appends the tree to the catalog's domains: the cluster, then each zone with its racks and their NVLink domains.
/// Returns the zones, in order.
std::vector<model::DomainId> add_topology(model::Catalog& catalog, const TopologyLayout& layout);

/// Returns the domains of all levels that contain a node in this NVLink domain.
model::DomainPath path_of(const model::Catalog& catalog, model::DomainId nvlink);

}  // namespace capstan::sim
