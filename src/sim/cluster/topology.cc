#include "sim/cluster/topology.h"

#include "base/assert.h"

namespace capstan::sim {
namespace {

model::DomainId append(model::Catalog& catalog, std::string name, model::TopologyLevel level, model::DomainId parent) {
  catalog.domains.push_back({std::move(name), level, parent});
  return {static_cast<std::uint32_t>(catalog.domains.size() - 1)};
}

}  // namespace

std::vector<model::DomainId> add_topology(model::Catalog& catalog, const TopologyLayout& layout) {
  using enum model::TopologyLevel;
  const model::DomainId whole = append(catalog, "cluster", cluster, {});
  std::vector<model::DomainId> zones;
  for (const std::string& zone_name : layout.zones) {
    const model::DomainId zone_id = append(catalog, zone_name, zone, whole);
    zones.push_back(zone_id);
    for (std::int64_t r = 0; r < layout.racks_per_zone; ++r) {
      const std::string rack_name = zone_name + "/rack-" + std::to_string(r);
      const model::DomainId rack_id = append(catalog, rack_name, rack, zone_id);
      for (std::int64_t d = 0; d < layout.nvlink_domains_per_rack; ++d) {
        append(catalog, rack_name + "/nvlink-" + std::to_string(d), nvlink, rack_id);
      }
    }
  }
  return zones;
}

model::DomainPath path_of(const model::Catalog& catalog, model::DomainId nvlink) {
  CAPSTAN_ASSERT(catalog.domain(nvlink).level == model::TopologyLevel::nvlink);
  model::DomainPath path;
  for (model::DomainId at = nvlink; at.valid(); at = catalog.domain(at).parent) {
    path[static_cast<std::size_t>(catalog.domain(at).level)] = at;
  }
  return path;
}

}  // namespace capstan::sim
