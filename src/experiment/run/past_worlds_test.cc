// Worlds in which an invariant broke once (docs/invariants.md). Each was found by a random search and stays here.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "experiment/run/testing.h"

namespace capstan::experiment {
namespace {

constexpr const char* kBase = R"(name: past
load:
  generator:
    rate: {kind: on_off, rate: 0.1, peak: 5, period: 40m, length: 12m}
    input: {kind: log_normal, tokens: 700, sigma: 1.0, max: 12000}
    output: {kind: log_normal, tokens: 100, sigma: 0.9, max: 2000}
  duration: 6h
service:
  model: Llama-3.1-8B
  gpu: H100
  tensor_parallel: 4
  pods_per_replica: 2
  together: rack
  slo: {ttft: 2s, tpot: 60ms}
  replicas: {min: 1, max: 12, initial: 2}
  engine_settings: {max_seqs: 8, kv_blocks: 700}
  start: {engine_init: 60s..200s, warm_up: 2s..4s}
cluster:
  racks_per_zone: 4
  pools:
    - name: h100
      gpu_limit: 20
      offerings:
        - {instance: half, gpu: h100_sxm, gpus: 2, usd_per_hour: 20, capacity: spot}
        - {instance: dear, gpu: h100_sxm, gpus: 2, usd_per_hour: 30}
  existing: [{instance: dear, gpu: h100_sxm, gpus: 2, usd_per_hour: 30, pool: h100, count: 2}]
policies:
  - name: own
    scale: capstan
    place: gang
    provision: {policy: group, hold: 2m, consolidation: {policy: when_empty, after: 3m}}
)";

struct PastWorld {
  const char* broke;
  std::uint64_t seed;
  std::vector<std::string> sets;
};

const PastWorld kPastWorlds[] = {
    {"limits (4): purchases with unknown outcomes were not counted as being in flight",
     103'960,
     {"cluster.actions.refused=15%", "cluster.actions.unknown=15%", "cluster.actions.latency=10s"}},
    {"limits (4): the same with refused spot capacity",
     500'995,
     {"load.generator.rate={kind: spike, rate: 0.5, peak: 12, start: 1h, length: 20m}", "service.tensor_parallel=2",
      "service.pods_per_replica=1", "service.together=node", "service.replicas.min=2",
      "service.start.engine_init=15s..25s", "cluster.actions.refused=15%", "cluster.actions.unknown=15%",
      "cluster.actions.unknown_after=2m", "cluster.pools.0.offerings.0.refused=100%", "cluster.weight_cache=none"}},
    {"no cut work (2): a scale-down in flight met spot losses",
     501'266,
     {"load.generator.rate={kind: ramp, rate: 0.2, peak: 8, start: 1h, length: 2h}", "service.tensor_parallel=1",
      "service.pods_per_replica=1", "service.together=node", "service.replicas.max=4", "service.start.engine_init=5s",
      "policies.0.scale={policy: queue_hpa, waiting_per_replica: 1, running_per_replica: 5, silence_holds: true}",
      "cluster.actions.refused=15%", "cluster.actions.latency=10s", "cluster.actions.bind_latency=5s",
      "cluster.scrape.delay=14s", "cluster.scrape.interval=45s", "cluster.provider.spot_interruptions_per_hour=600%",
      "cluster.provider.spot_notice=0s", "cluster.bandwidth.object_store=1GB/s",
      "service.engine_settings.max_waiting=2"}},
};

TEST(PastWorlds, BreakNoInvariantAnyMore) {
  for (const PastWorld& world : kPastWorlds) {
    SCOPED_TRACE(world.broke);
    const auto scenario = scenario::parse_scenario(
        kBase, "past.yaml", {.sets = world.sets, .trace = {}, .seed = world.seed, .policies = {}});
    ASSERT_TRUE(scenario) << scenario.error().text();
    const RunResult result = run_verified(*scenario, 0, world.seed);
    EXPECT_GT(result.requests.met, 1'000);
    EXPECT_EQ(result.invariants.total(), 0);
  }
}

}  // namespace
}  // namespace capstan::experiment
