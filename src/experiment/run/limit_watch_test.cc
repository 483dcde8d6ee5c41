#include "experiment/run/limit_watch.h"

#include <gtest/gtest.h>

#include <memory>

namespace capstan::experiment {
namespace {

/// Makes a pool with `count` nodes of eight GPUs at 10 USD/h.
model::Snapshot nodes(std::uint32_t count, GpuCount pool_limit, const model::FleetLimits& limits = {}) {
  auto catalog = std::make_shared<model::Catalog>();
  catalog->offerings = {{"eight", {0}, 8, {}, model::CapacityType::on_demand, {10'000'000}}};
  catalog->pools = {{.name = "pool", .offerings = {{0}}, .limits = {.gpus = pool_limit}}};
  catalog->limits = limits;
  model::Snapshot truth;
  truth.catalog = catalog;
  for (std::uint32_t id = 0; id < count; ++id) {
    model::Node node;
    node.pool = {0};
    node.offering = {0};
    truth.nodes.set({id}, node);
  }
  return truth;
}

struct LimitCase {
  const char* teaches;
  std::uint32_t first, second;  // nodes
  GpuCount pool_limit;
  model::FleetLimits limits;
  std::int64_t broken;
};

const LimitCase kLimitRows[] = {
    {"up to the limit", 1, 2, 16, {}, 0},
    {"above the pool's limit", 1, 3, 16, {}, 1},
    {"what stood above it at the start may stand on", 3, 3, 16, {}, 0},
    {"above the fleet's GPUs", 1, 3, 64, {.gpus = 16, .nodes = {}, .price_per_hour = {}}, 1},
    {"above the fleet's nodes", 1, 3, 64, {.gpus = {}, .nodes = 2, .price_per_hour = {}}, 1},
    {"above the fleet's price", 1, 3, 64, {.gpus = {}, .nodes = {}, .price_per_hour = MicroUsd{25'000'000}}, 1},
};

TEST(LimitWatch, CountsRisesAboveALimit) {
  for (const LimitCase& row : kLimitRows) {
    SCOPED_TRACE(row.teaches);
    LimitWatch watch;
    watch.minute(nodes(row.first, row.pool_limit, row.limits));
    watch.minute(nodes(row.second, row.pool_limit, row.limits));
    EXPECT_EQ(watch.broken(), row.broken);
  }
}

TEST(LimitWatch, CountsRisesAboveANodeLimitOfAPool) {
  LimitWatch watch;
  for (const std::uint32_t count : {1, 2, 3}) {
    model::Snapshot truth = nodes(count, 64);
    model::Catalog catalog = *truth.catalog;
    catalog.pools[0].limits.nodes = 2;
    truth.catalog = std::make_shared<model::Catalog>(catalog);
    watch.minute(truth);
  }
  EXPECT_EQ(watch.broken(), 1);
}

/// Makes bound pods of one GPU each. All are in the lower of two queues; only the upper queue has a limit.
model::Snapshot pods(std::uint32_t count, MilliGpu upper_limit) {
  auto catalog = std::make_shared<model::Catalog>();
  catalog->queues.resize(2);
  catalog->queues[0] = {.name = "all"};
  catalog->queues[0].gpus.limit = upper_limit;
  catalog->queues[1] = {.name = "chat", .parent = {0}};
  model::Snapshot truth;
  truth.catalog = catalog;
  for (std::uint32_t id = 0; id < count; ++id) {
    model::Pod pod;
    pod.gpus = whole_gpus(1);
    pod.node = {0};
    pod.queue = {1};
    truth.pods.set({id}, pod);
  }
  return truth;
}

TEST(LimitWatch, CountsRisesAboveALimitOfAQueue) {
  LimitWatch watch;
  watch.minute(pods(2, whole_gpus(3)));
  EXPECT_EQ(watch.broken(), 0);
  watch.minute(pods(4, whole_gpus(3)));
  EXPECT_EQ(watch.broken(), 1) << "the pods of a queue count for the queue above it";
  watch.minute(pods(4, whole_gpus(3)));
  EXPECT_EQ(watch.broken(), 1) << "it did not rise further";
  LimitWatch from_start;
  from_start.minute(pods(4, whole_gpus(3)));
  EXPECT_EQ(from_start.broken(), 1) << "the start of a run is no exception";
}

}  // namespace
}  // namespace capstan::experiment
