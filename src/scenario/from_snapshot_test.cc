#include "scenario/from_snapshot.h"

#include <gtest/gtest.h>

#include <memory>

#include "model/snapshot.h"

namespace capstan::scenario {
namespace {

/// Returns a state with the services ns/chat (three replicas) and ns/code (one). Its nodes have 8, 8 and 4 GPUs; a
/// fourth node is cordoned. On the second node, each service holds two GPUs.
model::Snapshot state() {
  auto catalog = std::make_shared<model::Catalog>();
  catalog->gpu_kinds = {"NVIDIA-H100-80GB-HBM3"};
  catalog->domains = {{"zone", model::TopologyLevel::zone, {}}};
  catalog->offerings = {{.instance_type = "p5.48xlarge",
                         .gpu = {0},
                         .gpus = 8,
                         .zone = {0},
                         .capacity = {},
                         .price_per_hour = MicroUsd{98'320'000}}};
  for (const char* name : {"ns/chat", "ns/code"}) {
    model::Service service;
    service.name = name;
    service.workload.gpu = {0};
    catalog->services.push_back(service);
  }
  model::Snapshot state;
  state.catalog = catalog;
  for (std::uint32_t i = 0; i < 4; ++i) {
    model::Node node;
    node.gpu = {0};
    node.gpus = whole_gpus(i == 2 ? 4 : 8);
    if (i != 2) node.offering = {0};
    if (i == 3) node.phase = model::Node::Phase::cordoned;
    state.nodes.set({i}, node);
  }
  state.services.set({0}, {.desired_replicas = 3, .gateway_waiting = {}});
  state.services.set({1}, {.desired_replicas = 1, .gateway_waiting = {}});
  for (std::uint32_t i = 0; i < 2; ++i) {
    model::Gang gang;
    gang.service = {i};
    gang.pods = {{i}};
    state.gangs.set({i}, gang);
    model::Pod pod;
    pod.gang = {i};
    pod.gpus = whole_gpus(2);
    pod.node = {1};
    state.pods.set({i}, pod);
  }
  return state;
}

TEST(FromSnapshot, SetsNodesWithFreeGpusAndTheReplicas) {
  const auto changes = changes_of(state(), "ns/chat", "incident.json");
  ASSERT_TRUE(changes.has_value());
  ASSERT_EQ(changes->size(), 2u);
  EXPECT_EQ((*changes)[0],
            R"(cluster.existing=[{"instance":"node","gpu":"h100_sxm","gpus":4,"count":1,"usd_per_hour":"0.000000"},)"
            R"({"instance":"p5.48xlarge","gpu":"h100_sxm","gpus":6,"count":1,"usd_per_hour":"98.320000"},)"
            R"({"instance":"p5.48xlarge","gpu":"h100_sxm","gpus":8,"count":1,"usd_per_hour":"98.320000"}])");
  EXPECT_EQ((*changes)[1], "service.replicas.initial=3");
}

TEST(FromSnapshot, AnErrorListsTheServices) {
  EXPECT_EQ(changes_of(state(), "", "incident.json").error().text(),
            "incident.json: found ns/chat or ns/code, expected one service or --service");
  EXPECT_EQ(changes_of(state(), "ns/chad", "incident.json").error().text(),
            "incident.json: there is no service \"ns/chad\", expected ns/chat or ns/code");
}

TEST(FromSnapshot, AClusterWithoutFreeGpusIsAnError) {
  model::Snapshot full = state();
  for (std::uint32_t i = 0; i < 4; ++i) full.nodes.erase({i});
  EXPECT_FALSE(changes_of(full, "ns/chat", "incident.json").has_value());
}

}  // namespace
}  // namespace capstan::scenario
