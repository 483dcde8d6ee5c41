#include "model/pool_limit.h"

#include <gtest/gtest.h>

#include "model/reason_sentence.h"

namespace capstan::model {
namespace {

/// A pool that sells a type of 8 GPUs, 192 CPUs and 2 TiB, and a type of 8 GPUs whose other amounts are not known.
Catalog catalog_with(const PoolLimits& limits) {
  Catalog catalog;
  catalog.gpu_kinds = {"h100"};
  catalog.domains = {{"zone-a", TopologyLevel::zone, {}}};
  catalog.instance_types = {{.name = "p5.48xlarge", .cpu_milli = 192'000, .memory_mib = 2'097'152}};
  catalog.offerings = {{.instance_type = "p5.48xlarge", .gpu = {0}, .zone = {0}, .price_per_hour = {}, .type = {0}},
                       {.instance_type = "other", .gpu = {0}, .zone = {0}, .price_per_hour = {}}};
  catalog.pools = {{.name = "h100", .offerings = {{0}, {1}}, .limits = limits}};
  return catalog;
}

TEST(PoolLimit, TheFirstLimitThatNodesWouldExceedIsTheReason) {
  constexpr std::int64_t kNone = kUnlimited;
  const NodeAmounts one_node{.gpus = 8, .nodes = 1, .cpu_milli = 192'000, .memory_mib = 2'097'152};
  struct Row {
    PoolLimits limits;
    std::uint32_t offering;
    std::int64_t count;
    std::optional<std::string> refusal;
    std::int64_t most;  ///< nodes that the limits allow in addition to the one in use
  };
  const Row rows[] = {
      {{24, kNone, kNone, kNone}, 0, 2, std::nullopt, 2},
      {{24, kNone, kNone, kNone},
       0,
       3,
       "24 more GPUs would exceed the limit of pool \"h100\": 8 of 24 GPUs are in use or on the way",
       2},
      {{24, 2, kNone, kNone},
       0,
       2,
       "2 more nodes would exceed the limit of pool \"h100\": 1 of 2 nodes are in use or on the way",
       1},
      {{24, 2, 300'000, kNone},
       0,
       1,
       "192 more CPUs would exceed the limit of pool \"h100\": 192 of 300 CPUs are in use or on the way",
       0},
      {{24, 2, 384'000, 4'193'280},
       0,
       1,
       "2048 GiB more memory would exceed the limit of pool \"h100\": 2048 GiB of 4095 GiB are in use or "
       "on the way",
       0},
      {{24, 2, 384'000, 4'194'304}, 0, 1, std::nullopt, 1},
      {{24, 2, kNone, kNone}, 1, 1, std::nullopt, 1},
      {{24, 2, 384'000, kNone},
       1,
       1,
       "pool \"h100\" limits the CPU or memory of its nodes, but `instanceTypes` of the FleetPolicy does not "
       "state both for other: no node of this type is bought",
       0},
  };
  for (const Row& row : rows) {
    const Catalog catalog = catalog_with(row.limits);
    const std::optional<Reason> refusal = refusal_of_pool(catalog, {0}, {row.offering}, row.count, one_node);
    EXPECT_EQ(refusal.transform([&](const Reason& why) { return sentence(why, catalog); }), row.refusal);
    EXPECT_EQ(catalog.nodes_within_limits({0}, {row.offering}, one_node), row.most) << row.refusal.value_or("bought");
  }
}

}  // namespace
}  // namespace capstan::model
