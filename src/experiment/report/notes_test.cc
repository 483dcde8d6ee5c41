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
  catalog->services.emplace_back().workload.gpus_per_replica = 1;
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
  whole_nodes->services[0].workload.gpus_per_replica = 8;
  c.catalog = whole_nodes;
  EXPECT_EQ(notes_on(c), Notes{}) << "a replica fills a node";
}

TEST(Notes, SayThatTheTimesOfASparseTraceMayBeMilliseconds) {
  Comparison c = large_nodes();
  c.catalog = nullptr;
  c.load = "trace a.csv";
  c.results[0].requests.arrived = 21'801;
  c.results[0].simulated = 27 * 24h;
  EXPECT_EQ(notes_on(c), Notes{"The trace has 21,801 requests in 27 d, one every 1 min 47 s on average. If its times "
                               "are milliseconds, they were read as seconds: name the column of a CSV arrival_ms "
                               "instead of arrival_s."});
  c.results[0].requests.arrived = 3000;
  c.results[0].simulated = 3000 * 10s;
  EXPECT_EQ(notes_on(c).size(), 1u) << "a request every 10 seconds";
  c.results[0].simulated = 3000 * 9s;
  EXPECT_EQ(notes_on(c), Notes{}) << "a request every 9 seconds";
  c.results[0].requests.arrived = 10'000'000;
  c.results[0].simulated = 15 * 24h;
  EXPECT_EQ(notes_on(c).size(), 1u) << "more than two weeks";
  c.results[0].simulated = 14 * 24h;
  EXPECT_EQ(notes_on(c), Notes{}) << "two weeks";
  c.results[0].requests.arrived = 99;
  EXPECT_EQ(notes_on(c), Notes{}) << "few requests";
  c.results[0].requests.arrived = 3000;
  c.load = "generated";
  EXPECT_EQ(notes_on(c), Notes{}) << "no trace";
}

TEST(Notes, SayThatTheTimesOfADenseTraceMayBeSeconds) {
  Comparison c = large_nodes();
  c.catalog = nullptr;
  c.load = "trace ms.csv";
  RunResult& result = c.results[0];
  result.requests.arrived = 4'953;
  result.simulated = 6min;
  result.minutes.resize(6);
  result.minutes[0].arrived = 4'953;
  EXPECT_EQ(notes_on(c),
            Notes{"All 4,953 requests of the trace arrive within 1 min, at least 82 a second on average. If "
                  "its times are seconds in a column arrival_ms, they were read as milliseconds: name the "
                  "column arrival_s."});
  result.minutes[4].arrived = 1;
  EXPECT_EQ(notes_on(c), Notes{}) << "less than 20 a second";
  result.requests.arrived = 10'000;
  EXPECT_EQ(notes_on(c).size(), 1u) << "33 a second for five minutes";
  result.minutes[5].arrived = 1;
  EXPECT_EQ(notes_on(c), Notes{}) << "six minutes";
  result.minutes[5].arrived = 0;
  c.load = "trace conv.jsonl";
  EXPECT_EQ(notes_on(c), Notes{}) << "no CSV";
}

TEST(Notes, SayThatEnginesAreShortOfKvMemory) {
  Comparison c = large_nodes();
  c.catalog = nullptr;
  c.slo.attainment_ppm = 990'000;
  c.results[0].requests = {.arrived = 40'000, .completed = 40'000, .met = 20'000, .kv_preemptions = 2'000};
  EXPECT_EQ(notes_on(c),
            Notes{"Under a, engines had no room in KV memory 2,000 times and gave up what they had computed "
                  "of a request. More GPUs for each replica (`tensor_parallel`) leave more room."});
  c.results[0].requests.kv_preemptions = 1'999;
  EXPECT_EQ(notes_on(c), Notes{}) << "less than one for twenty requests";
  c.results[0].requests = {.arrived = 40'000, .completed = 40'000, .met = 40'000, .kv_preemptions = 2'000};
  EXPECT_EQ(notes_on(c), Notes{}) << "the SLO is held";
}

TEST(Notes, SayWhatEmptyNodesCost) {
  Comparison c = large_nodes();
  c.catalog = nullptr;
  c.results[0].empty_node_gpu_ns = 800;  // of 8'000
  c.results[0].empty_node_micro_usd = 7'200'000;
  c.empty_node_delays["a"] = 1h;
  EXPECT_EQ(
      notes_on(c),
      Notes{"Under a, 10.0 % of the paid GPU time (7.20 USD) was on nodes without any pod. A node is given back "
            "after 1 h without pods: with a shorter time the fleet costs less, but starting replicas have to wait "
            "for a new node more often. Keep the policies of `provision` and of its `consolidation` when you state "
            "the time, for example `provision: {policy: group, consolidation: {policy: when_empty, after: "
            "30m}}`."});
  c.empty_node_delays["a"] = std::nullopt;
  EXPECT_EQ(notes_on(c), Notes{"Under a, 10.0 % of the paid GPU time (7.20 USD) was on nodes without any pod. This "
                               "policy never gives a node back."});
  c.empty_node_delays["a"] = 0s;
  EXPECT_EQ(notes_on(c), Notes{"Under a, 10.0 % of the paid GPU time (7.20 USD) was on nodes without any pod. A node "
                               "without pods is given back at once."});
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
