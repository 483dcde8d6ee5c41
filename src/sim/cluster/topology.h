#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/catalog.h"

namespace capstan::sim {

/// The shape of a regular tree of domains, and of further topologies over its NVLink domains.
struct TopologyLayout {
  std::vector<std::string> zones = {"zone-a"};
  std::int64_t racks_per_zone = 4;
  std::int64_t nvlink_domains_per_rack = 4;  ///< with HGX machines one domain per node, with NVL72 one per rack
  /// Sizes of the further topologies, one list for each topology after the standard one: for each of its levels, the
  /// number of NVLink domains in one domain. Each number divides the number of the next wider level, and the number of
  /// NVLink domains in a zone.
  std::vector<std::vector<std::int64_t>> nvlink_domains_by_level{};

  std::int64_t nvlink_domains_per_zone() const { return racks_per_zone * nvlink_domains_per_rack; }
};

/// Appends the domains to the catalog: the cluster, then each zone with its racks and their NVLink domains, then the
/// domains of the further topologies. Returns the zones, in order.
std::vector<model::DomainId> add_topology(model::Catalog& catalog, const TopologyLayout& layout);

/// Returns the domains of all levels that contain a node, by the NVLink domain of the node.
std::map<model::DomainId, model::DomainPath> paths_of(const model::Catalog& catalog);

/// Returns the number of NVLink domains in each domain of a level. All domains of a level have equally many. Places for
/// nodes are this number times ProviderConfig::nodes_per_nvlink_domain.
std::int64_t nvlink_domains_in(const model::Catalog& catalog, model::Level level);

}  // namespace capstan::sim
