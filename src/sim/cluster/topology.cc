#include "sim/cluster/topology.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace capstan::sim {
namespace {

model::DomainId append(model::Catalog& catalog, std::string name, model::Level level, model::DomainId parent) {
  catalog.domains.push_back({std::move(name), level, parent});
  return {static_cast<std::uint32_t>(catalog.domains.size() - 1)};
}

/// Appends the domains of a topology in one zone, level by level.
/// @param sizes  NVLink domains in one domain, by level
void append_in_zone(model::Catalog& catalog, std::size_t topology, model::DomainId zone,
                    const std::vector<std::int64_t>& sizes, std::int64_t nvlink_domains) {
  const std::string prefix = catalog.domain(zone).name + "/";
  std::vector<model::DomainId> wider = {zone};
  std::int64_t wider_size = nvlink_domains;
  for (std::size_t depth = 0; depth < sizes.size(); ++depth) {
    CAPSTAN_ASSERT(sizes[depth] > 0 && wider_size % sizes[depth] == 0);
    const model::Level level = model::level_at(catalog.topologies, {topology, depth});
    const std::string name = prefix + catalog.topologies[topology].levels[depth].name + "-";
    std::vector<model::DomainId> domains;
    for (std::int64_t first = 0; first < nvlink_domains; first += sizes[depth]) {
      const model::DomainId parent = wider[static_cast<std::size_t>(first / wider_size)];
      domains.push_back(append(catalog, name + std::to_string(first / sizes[depth]), level, parent));
    }
    wider = std::move(domains);
    wider_size = sizes[depth];
  }
}

model::DomainId zone_of(const model::Catalog& catalog, model::DomainId domain) {
  while (domain.valid() && catalog.domain(domain).level != model::TopologyLevel::zone) {
    domain = catalog.domain(domain).parent;
  }
  return domain;
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
  for (std::size_t i = 0; i < layout.nvlink_domains_by_level.size(); ++i) {
    for (const model::DomainId zone_id : zones) {
      append_in_zone(catalog, i + 1, zone_id, layout.nvlink_domains_by_level[i], layout.nvlink_domains_per_zone());
    }
  }
  return zones;
}

std::map<model::DomainId, model::DomainPath> paths_of(const model::Catalog& catalog) {
  std::map<model::DomainId, std::vector<model::DomainId>> nvlinks;                           // by zone
  std::map<model::DomainId, std::map<model::Level, std::vector<model::DomainId>>> by_level;  // by zone
  for (std::uint32_t d = 0; d < catalog.domains.size(); ++d) {
    const model::Level level = catalog.domains[d].level;
    if (level == model::TopologyLevel::nvlink) nvlinks[zone_of(catalog, {d})].push_back({d});
    if (!level.is_standard()) by_level[zone_of(catalog, {d})][level].push_back({d});
  }
  std::map<model::DomainId, model::DomainPath> paths;
  for (const auto& [zone, in_zone] : nvlinks) {
    for (std::size_t n = 0; n < in_zone.size(); ++n) {
      model::DomainPath& path = paths[in_zone[n]];
      for (model::DomainId at = in_zone[n]; at.valid(); at = catalog.domain(at).parent) {
        path.set(catalog.domain(at).level, at);
      }
      // All domains of a level contain equally many NVLink domains, in the order of their ids.
      for (const auto& [level, domains] : by_level[zone]) path.set(level, domains[n * domains.size() / in_zone.size()]);
    }
  }
  return paths;
}

std::int64_t nvlink_domains_in(const model::Catalog& catalog, model::Level level) {
  const auto domains = [&](model::Level of) { return std::ranges::count(catalog.domains, of, &model::Domain::level); };
  return domains(model::TopologyLevel::nvlink) / std::max<std::int64_t>(1, domains(level));
}

}  // namespace capstan::sim
