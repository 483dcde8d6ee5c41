#include "sim/cluster/topology.h"

#include <gtest/gtest.h>

namespace capstan::sim {
namespace {

TEST(Topology, PathsLeadThroughAllTopologies) {
  model::Catalog catalog;
  catalog.topologies.push_back({.name = "fabric", .levels = {{.name = "spine"}, {.name = "leaf"}}});
  const std::vector<model::DomainId> zones = add_topology(
      catalog,
      {.zones = {"a", "b"}, .racks_per_zone = 2, .nvlink_domains_per_rack = 4, .nvlink_domains_by_level = {{8, 2}}});
  const auto level = [&](const char* key) { return *model::level_of_key(catalog.topologies, key); };
  const std::map<model::DomainId, model::DomainPath> paths = paths_of(catalog);
  ASSERT_EQ(paths.size(), 16u) << "one for each NVLink domain";
  EXPECT_EQ(nvlink_domains_in(catalog, model::TopologyLevel::cluster), 16);
  EXPECT_EQ(nvlink_domains_in(catalog, model::TopologyLevel::zone), 8);
  EXPECT_EQ(nvlink_domains_in(catalog, model::TopologyLevel::rack), 4);
  EXPECT_EQ(nvlink_domains_in(catalog, level("fabric/leaf")), 2);
  EXPECT_EQ(nvlink_domains_in(model::Catalog(), model::TopologyLevel::rack), 0);
  std::size_t n = 0;
  for (const auto& [nvlink, path] : paths) {
    const model::DomainId zone = zones[n / 8];
    const std::string prefix = catalog.domain(zone).name + "/";
    EXPECT_EQ(path.domain_at(model::TopologyLevel::nvlink), nvlink);
    EXPECT_EQ(path.domain_at(model::TopologyLevel::zone), zone);
    EXPECT_EQ(catalog.domain(path.domain_at(level("fabric/leaf"))).name, prefix + "leaf-" + std::to_string(n % 8 / 2));
    EXPECT_EQ(catalog.domain(path.domain_at(level("fabric/spine"))).name, prefix + "spine-0");
    EXPECT_EQ(catalog.domain(path.domain_at(level("fabric/leaf"))).parent, path.domain_at(level("fabric/spine")));
    EXPECT_EQ(catalog.domain(path.domain_at(level("fabric/spine"))).parent, zone);
    ++n;
  }
}

TEST(Topology, ALeafMayJoinNvlinkDomainsOfTwoRacks) {
  model::Catalog catalog;
  catalog.topologies.push_back({.name = "fabric", .levels = {{.name = "leaf"}}});
  add_topology(catalog, {.racks_per_zone = 4, .nvlink_domains_per_rack = 1, .nvlink_domains_by_level = {{2}}});
  const model::Level leaf = *model::level_of_key(catalog.topologies, "fabric/leaf");
  std::map<model::DomainId, std::vector<std::string>> racks;
  for (const auto& [nvlink, path] : paths_of(catalog)) {
    racks[path.domain_at(leaf)].push_back(catalog.domain(path.domain_at(model::TopologyLevel::rack)).name);
  }
  ASSERT_EQ(racks.size(), 2u);
  EXPECT_EQ(racks.begin()->second, (std::vector<std::string>{"zone-a/rack-0", "zone-a/rack-1"}));
}

}  // namespace
}  // namespace capstan::sim
