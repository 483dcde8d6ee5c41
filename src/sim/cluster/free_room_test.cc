// Goal: the free room counts whole pods on nodes of the right kind, within the limits of the queues.
#include "sim/cluster/free_room.h"

#include <gtest/gtest.h>

#include "sim/cluster/cluster_fixture.h"
#include "sim/cluster/domain_key.h"

namespace capstan::sim {
namespace {

using namespace test;

/// A snapshot with two empty nodes of eight GPUs, and its provider.
struct RoomBench {
  struct Ignore final : NodeListener {
    void node_added(model::NodeId) override {}
    void evict(model::PodId, Interruption) override {}
    void node_stopped(model::NodeId) override {}
  };
  explicit RoomBench(std::optional<MilliGpu> limit) : basics(with_queues(limit)), nodes(basics, 1, listener) {
    nodes.add_existing();
  }
  static ClusterConfig with_queues(std::optional<MilliGpu> limit) {
    ClusterConfig config = small_config();
    auto catalog = std::make_shared<model::Catalog>(*config.catalog);
    catalog->queues = {{.name = "all", .parent = {}, .gpus = {.limit = limit}}, {.name = "batch", .parent = {0}}};
    config.catalog = catalog;
    return config;
  }
  static WaitingGang gang(std::int64_t pods, GpuCount gpus_per_pod, model::TopologyLevel required_level) {
    return {.id = {7},
            .spec = {.pods = {.gpu = {0}, .count = pods, .gpus_per_pod = whole_gpus(gpus_per_pod)},
                     .required_level = required_level,
                     .queue = {1}}};
  }

  Ignore listener;
  Basics basics;
  NodeProvider nodes;
};

TEST(FreeRoom, ADomainHoldsWholePodsOnItsNodes) {
  RoomBench bench({});
  const FreeRoom room(bench.basics.api.rows(), bench.nodes);
  const WaitingGang gang = RoomBench::gang(3, 3, model::TopologyLevel::zone);
  EXPECT_EQ(room.domains({0}, model::TopologyLevel::node).size(), 2u);
  EXPECT_TRUE(room.domains({1}, model::TopologyLevel::node).empty()) << "no node has this kind";
  const std::vector<FreeRoom::Domain> zones = room.domains({0}, model::TopologyLevel::zone);
  ASSERT_EQ(zones.size(), 1u) << "both nodes are in one zone";
  EXPECT_EQ(room.most_pods(gang, zones[0]), 4) << "two pods of three GPUs on each node";
  EXPECT_NE(domain_key(bench.basics.api.rows(), {0}, model::TopologyLevel::node),
            domain_key(bench.basics.api.rows(), {1}, model::TopologyLevel::node));
}

TEST(FreeRoom, AQueueAboveLimitsThePods) {
  RoomBench bench(whole_gpus(7));
  const FreeRoom room(bench.basics.api.rows(), bench.nodes);
  const std::vector<FreeRoom::Domain> zones = room.domains({0}, model::TopologyLevel::zone);
  EXPECT_EQ(room.most_pods(RoomBench::gang(3, 3, model::TopologyLevel::zone), zones[0]), 2);
  EXPECT_FALSE(room.fits(RoomBench::gang(3, 3, model::TopologyLevel::zone), zones[0]));
}

TEST(FreeRoom, RoomIsTakenAndGivenBack) {
  RoomBench bench(whole_gpus(12));
  FreeRoom room(bench.basics.api.rows(), bench.nodes);
  const WaitingGang gang = RoomBench::gang(1, 8, model::TopologyLevel::zone);
  const FreeRoom::Domain zone = room.domains({0}, model::TopologyLevel::zone).front();
  room.take(gang, zone);
  EXPECT_EQ(room.most_pods(gang, zone), 0) << "the queue has room for four GPUs";
  model::Pod pod;
  pod.node = zone.front();
  pod.gpus = whole_gpus(8);
  pod.queue = {1};
  room.give_back(pod);
  EXPECT_EQ(room.most_pods(gang, zone), 1);
  room.take_again(pod);
  EXPECT_EQ(room.most_pods(gang, zone), 0);
}

}  // namespace
}  // namespace capstan::sim
