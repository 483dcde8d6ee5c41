#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/catalog.h"

namespace capstan::sim {

/// A regular tree of domains.
struct TopologyLayout {
  std::vector<std::string> zones = {"zone-a"};
  std::int64_t racks_per_zone = 4;
  std::int64_t nvlink_domains_per_rack = 4;  ///< with HGX machines one a node, with NVL72 one a rack
};

/// Appends the tree to the catalog's domains: cluster, then each zone with its racks with their NVLink domains.
/// @return the zones, in order
std::vector<model::DomainId> add_topology(model::Catalog& catalog, const TopologyLayout& layout);

/// All the domains that a node in this NVLink domain lies in.
model::DomainPath path_of(const model::Catalog& catalog, model::DomainId nvlink);

}  // namespace capstan::sim
