#include "model/catalog_change.h"

#include <gtest/gtest.h>

#include <functional>

namespace capstan::model {
namespace {

Catalog small_catalog() {
  Catalog catalog;
  catalog.gpu_kinds = {"h100_sxm"};
  catalog.domains.push_back({.name = "cluster", .level = TopologyLevel::cluster, .parent = {}});
  catalog.offerings.emplace_back().instance_type = "p5";
  catalog.pools.emplace_back().name = "gpu";
  catalog.queues.emplace_back().name = "research";
  catalog.services.emplace_back().name = "chat";
  catalog.eligibility.pod_classes.emplace_back();
  return catalog;
}

TEST(CatalogChange, EachEditIsFoundInItsTable) {
  struct Row {
    const char* title;
    std::function<void(Catalog&)> edit;
    CatalogChange expected;
  };
  const Row rows[] = {
      {"nothing", [](Catalog&) {}, {}},
      {"another GPU kind", [](Catalog& c) { c.gpu_kinds.push_back("l4"); }, {.gpu_kinds = true}},
      {"a domain", [](Catalog& c) { c.domains.push_back(c.domains.front()); }, {.domains = true}},
      {"a topology", [](Catalog& c) { c.topologies.emplace_back().name = "fabric"; }, {.domains = true}},
      {"a price", [](Catalog& c) { c.offerings[0].price_per_hour = {1}; }, {.offerings = true}},
      {"the CPU of an instance type",
       [](Catalog& c) { c.instance_types.push_back({.name = "p5", .cpu_milli = 192'000}); },
       {.offerings = true}},
      {"a limit of a pool", [](Catalog& c) { c.pools[0].limits.gpus = 8; }, {.pools = true}},
      {"a limit of the fleet", [](Catalog& c) { c.limits.nodes = 3; }, {.pools = true}},
      {"a limit of a queue", [](Catalog& c) { c.queues[0].gpus.limit = whole_gpus(8); }, {.queues = true}},
      {"a bound of a service", [](Catalog& c) { c.services[0].max_replicas = 9; }, {.services = true}},
      {"an SLO", [](Catalog& c) { c.services[0].slo.attainment_ppm = 1; }, {.services = true}},
      {"a workload", [](Catalog& c) { c.services[0].workload.pods = 2; }, {.services = true}},
      {"a request of pods",
       [](Catalog& c) { c.eligibility.pod_classes[0].requests.cpu_milli = 1; },
       {.eligibility = true}},
      {"a name of a resource", [](Catalog& c) { c.extended_resources.push_back("x"); }, {.eligibility = true}},
  };
  const Catalog before = small_catalog();
  for (const Row& row : rows) {
    Catalog after = small_catalog();
    row.edit(after);
    const CatalogChange found = changes_between(before, after);
    EXPECT_EQ(found, row.expected) << row.title;
    EXPECT_EQ(found.any(), row.expected != CatalogChange{}) << row.title;
  }
  EXPECT_FALSE(changes_between(before, before).any());
}

}  // namespace
}  // namespace capstan::model
