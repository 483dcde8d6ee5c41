#include "experiment/report/notes.h"

#include <gtest/gtest.h>

#include <memory>

namespace capstan::experiment {
namespace {

using namespace std::chrono_literals;
using Notes = std::vector<std::string>;

/// A service with replicas of one GPU on nodes of eight GPUs. On each node, seven GPUs have no pod.
Comparison large_nodes() {
  auto catalog = std::make_shared<model::Catalog>();
  catalog->services.emplace_back().workload.tensor_parallel = 1;
  catalog->offerings.emplace_back().gpus = 8;
  Comparison c;
  c.catalog = catalog;
  RunResult& result = c.results.emplace_back();
  result.policy = "a";
  result.cold_start_p50 = 45s;
  result.gpu_ns[static_cast<std::size_t>(GpuState::busy)] = 1'000;
  result.gpu_ns[static_cast<std::size_t>(GpuState::unallocated)] = 7'000;
  return c;
}

TEST(Notes, SayThatNodesAreTooLarge) {
  Comparison c = large_nodes();
  EXPECT_EQ(notes_on(c),
            Notes{"Under a, 87.5 % of the paid GPU time was on GPUs without a pod: a replica has 1 GPU, and "
                  "the smallest node 8. Smaller nodes may cost less."});
  c.results[0].gpu_ns[static_cast<std::size_t>(GpuState::busy)] = 7'001;
  EXPECT_EQ(notes_on(c), Notes{}) << "less than half";
  c = large_nodes();
  auto whole_nodes = std::make_shared<model::Catalog>(*c.catalog);
  whole_nodes->services[0].workload.tensor_parallel = 8;
  c.catalog = whole_nodes;
  EXPECT_EQ(notes_on(c), Notes{}) << "a replica fills a node";
}

TEST(Notes, AskIfASparseTraceIsInSeconds) {
  Comparison c = large_nodes();
  c.catalog = nullptr;
  c.load = "trace a.csv";
  c.results[0].requests.arrived = 3000;
  c.results[0].simulated = 83 * 24h;
  ASSERT_EQ(notes_on(c).size(), 1u);
  EXPECT_TRUE(
      notes_on(c)[0].starts_with("The trace has one request every 39 min 50 s on average: 3,000 requests in 83 d"))
      << notes_on(c)[0];
  c.results[0].simulated = 24h;
  EXPECT_EQ(notes_on(c), Notes{}) << "a request every 29 seconds";
  c.results[0].requests.arrived = 5;
  c.load = "generated";
  EXPECT_EQ(notes_on(c), Notes{});
}

TEST(Notes, SayWhatEmptyNodesCost) {
  Comparison c = large_nodes();
  c.catalog = nullptr;
  c.results[0].empty_node_gpu_ns = 800;  // of 8'000
  c.results[0].empty_node_micro_usd = 7'200'000;
  c.empty_node_delays["a"] = 1h;
  EXPECT_EQ(notes_on(c),
            Notes{"Under a, 10.0 % of the paid GPU time (7.20 USD) was on nodes without any pod. A node is given back "
                  "after 1 h without pods: with a shorter `provision: {consolidation: {after: ...}}` the fleet costs "
                  "less, and a replica that starts later waits for a new node more often."});
  c.empty_node_delays["a"] = std::nullopt;
  EXPECT_EQ(notes_on(c), Notes{"Under a, 10.0 % of the paid GPU time (7.20 USD) was on nodes without any pod. This "
                               "policy never gives a node back."});
  c.results[0].empty_node_gpu_ns = 399;
  EXPECT_EQ(notes_on(c), Notes{}) << "less than 5 %";
}

TEST(Notes, SayThatAStartIsAssumed) {
  Comparison c = large_nodes();
  c.catalog = nullptr;
  c.assumed_engine_init = sim::Latency::between(30s, 45s);
  ASSERT_EQ(notes_on(c).size(), 1u);
  EXPECT_TRUE(notes_on(c)[0].contains("30 s to 45 s are assumed")) << notes_on(c)[0];
  c.results[0].cold_start_p50 = {};
  EXPECT_EQ(notes_on(c), Notes{}) << "nothing started";
}

}  // namespace
}  // namespace capstan::experiment
