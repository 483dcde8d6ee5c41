// Whole runs in a world that refuses, delays and loses actions and takes nodes away. No policy may break an invariant
// (docs/invariants.md) that it keeps without these faults. Each seed chooses a policy and, independently, each fault,
// so that faults occur in every combination.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "experiment/run/testing.h"

namespace capstan::experiment {
namespace {

constexpr std::uint64_t kSeeds = 48;

// A replica has two pods with a GPU each. A node holds two replicas, so that a spike of ten minutes buys and releases
// nodes.
constexpr const char* kWorld = R"(name: hostile
load:
  generator:
    rate: {kind: spike, rate: 1, peak: 14, start: 4m, length: 8m}
    input: {kind: log_normal, tokens: 900, sigma: 0.8, max: 8000}
    output: {kind: log_normal, tokens: 120, sigma: 0.7, max: 1000}
  duration: 25m
service:
  model: Llama-3.1-8B
  gpu: H100
  tensor_parallel: 2
  pods_per_replica: 2
  together: node
  slo: {ttft: 2s, tpot: 50ms}
  replicas: {min: 1, max: 7, initial: 2}
  engine_settings: {max_seqs: 8}
  start: {engine_init: 15s..25s, warm_up: 2s..4s}
cluster:
  racks_per_zone: 8
  pools:
    - name: h100
      gpu_limit: 12
      offerings:
        - {instance: half, gpu: h100_sxm, gpus: 4, usd_per_hour: 20, capacity: spot}
        - {instance: dear, gpu: h100_sxm, gpus: 4, usd_per_hour: 30}
  existing: [{instance: dear, gpu: h100_sxm, gpus: 4, usd_per_hour: 30, pool: h100}]
policies:
  - name: queue, gang, group
    scale: {policy: queue_hpa, waiting_per_replica: 1, running_per_replica: 5, downscale_stabilization: 1m}
    place: gang
    provision: {policy: group, hold: 2m, consolidation: {policy: when_empty, after: 1m}}
  - name: fixed, gang, group
    scale: {policy: fixed, replicas: 6}
    place: gang
    provision: {policy: group, hold: 2m, consolidation: {policy: when_empty, after: 1m}}
  - name: queue, first fit, karpenter
    scale: {policy: queue_hpa, waiting_per_replica: 1, running_per_replica: 5, downscale_stabilization: 1m}
    place: first_fit
    provision: karpenter
  - name: duty cycle, first fit, cluster autoscaler
    scale: {policy: duty_cycle_hpa, downscale_stabilization: 1m}
    place: first_fit
    provision: cluster_autoscaler
  - name: queue, gang, karpenter
    scale: {policy: queue_hpa, waiting_per_replica: 1, running_per_replica: 5, downscale_stabilization: 1m}
    place: gang
    provision: karpenter
)";

constexpr const char* kFaults[] = {
    "cluster.actions.refused=15%",
    "cluster.actions.unknown=15%",
    "cluster.actions.unknown_after=2m",
    "cluster.actions.latency=10s",
    "cluster.actions.bind_latency=5s",
    "cluster.actions.pod_creation=1s..60s",
    "cluster.scrape.loss=50%",
    "cluster.scrape.delay=14s",
    "cluster.scrape.interval=45s",
    "cluster.scrape.stale_after=20s",
    "cluster.pools.0.offerings.0.refused=100%",
    "cluster.pools.0.offerings.1.refused=60%",
    "cluster.provider.spot_interruptions_per_hour=600%",
    "cluster.provider.spot_notice=0s",
    "cluster.bandwidth.object_store=1GB/s",
    "cluster.weight_cache=none",
    "service.client={first_token_timeout: 4s, max_retries: 3, retry_timed_out: true}",
    "service.engine_settings.max_waiting=2",
    "service.engine_settings.kv_blocks=700",
    "service.engine_perturbation=40%",
    ("jobs=[{name: eval, gpu: H100, pods: {min: 1, max: 2}, work: {median: 2m, sigma: 1}, start: 5s..20s, "
     "checkpoint_every: 1m, preemptible: true, priority: -1, "
     "arrivals: {per_hour: 30, until: 20m}, goal: {finish_within: 10m}}]"),
};

class Hostile : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(Hostile, NoInvariantBreaks) {
  RandomStream coin(GetParam(), "hostile");
  const DrawnFaults drawn = draw_faults(kFaults, coin);
  const std::size_t policy = coin.below(5);
  const scenario::ScenarioResult scenario =
      scenario::parse_scenario(kWorld, "hostile.yaml", {.sets = drawn.sets, .trace = {}, .seed = {}, .policies = {}});
  ASSERT_TRUE(scenario) << scenario.error().text();
  const RunResult result = run_verified(*scenario, policy, GetParam());
  SCOPED_TRACE(result.policy + drawn.words);

  EXPECT_EQ(result.invariants.not_repeatable, 0);
  EXPECT_EQ(result.invariants.unobservable_values, 0);
  EXPECT_EQ(result.invariants.not_conserved, 0);
  EXPECT_EQ(result.invariants.limit_exceeded, 0);
  EXPECT_LE(result.replicas_peak, 7);
  EXPECT_GT(result.requests.arrived, 3'000);
  const RequestFigures& r = result.requests;
  EXPECT_EQ(r.arrived, r.completed + r.in_flight + r.queued + r.unmet());

  const bool gang = policy == 0 || policy == 1 || policy == 4;
  const bool group = policy <= 1;
  if (gang) {
    EXPECT_EQ(result.invariants.partial_gang, 0);
  }
  if (group) {
    EXPECT_EQ(result.invariants.expired_group_holds, 0);
    EXPECT_EQ(result.disruptions.consolidation, 0);
  }
  if (policy == 1) {
    EXPECT_EQ(result.invariants.scale_downs_without_data, 0);
    EXPECT_EQ(result.invariants.work_cut, 0);
  }
  // A second run gives the same bytes.
  if (GetParam() % 8 == 0) {
    EXPECT_EQ(run_verified(*scenario, policy, GetParam()).state_hash, result.state_hash);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Hostile, ::testing::Range<std::uint64_t>(1, kSeeds + 1));

/// Checks that the world is hostile: each fault occurs.
TEST(HostileWorld, EachConfiguredFaultOccurs) {
  const auto run_with = [](std::vector<std::string> sets, std::size_t policy) {
    const scenario::ScenarioResult scenario = scenario::parse_scenario(
        kWorld, "hostile.yaml", {.sets = std::move(sets), .trace = {}, .seed = {}, .policies = {}});
    return run_verified(scenario.value(), policy, 1);
  };
  const RunResult calm = run_with({}, 0);
  EXPECT_EQ(calm.nodes_refused, 0);
  EXPECT_EQ(calm.disruptions.spot, 0);
  EXPECT_GT(calm.nodes_launched, 0);
  EXPECT_GT(calm.nodes_released, 0);
  EXPECT_GT(run_with({"cluster.pools.0.offerings.0.refused=100%"}, 0).nodes_refused, 0);
  EXPECT_GT(run_with({"cluster.provider.spot_interruptions_per_hour=600%"}, 0).disruptions.spot, 0);
  EXPECT_GT(
      run_with({"service.client={first_token_timeout: 4s, max_retries: 3, retry_timed_out: true}"}, 0).requests.retries,
      calm.requests.retries);
  EXPECT_NE(run_with({"cluster.actions.refused=15%"}, 0).state_hash, calm.state_hash);
  EXPECT_NE(run_with({"cluster.scrape.loss=50%"}, 0).state_hash, calm.state_hash);
  const InvariantFigures baseline = run_with({}, 2).invariants;
  EXPECT_GT(baseline.partial_gang + baseline.work_cut, 0);  // placement by pod and consolidation break these
}

// Paths of every number in a scenario. The test sets each of them to extreme values. A scenario that the reader accepts
// must run to its end.
constexpr const char* kPaths[] = {
    "duration",
    "settle",
    "load.duration",
    "load.scale",
    "load.scale_jitter",
    "load.generator.input",
    "load.generator.output",
    "load.generator.rate",
    "service.tensor_parallel",
    "service.pods_per_replica",
    "service.slo.ttft",
    "service.slo.tpot",
    "service.slo.attainment",
    "service.replicas.min",
    "service.replicas.max",
    "service.replicas.initial",
    "service.engine_settings.max_batched_tokens",
    "service.engine_settings.max_seqs",
    "service.engine_settings.max_waiting",
    "service.engine_settings.kv_blocks",
    "service.engine_settings.front_end",
    "service.engine_perturbation",
    "service.router.affinity_extra_load",
    "service.router.affinity_blocks",
    "service.router.gateway_max_waiting",
    "service.client.first_token_timeout",
    "service.client.total_timeout",
    "service.client.max_retries",
    "service.client.backoff",
    "service.client.backoff_max",
    "service.start.engine_init",
    "service.start.warm_up",
    "cluster.racks_per_zone",
    "cluster.nvlink_domains_per_rack",
    "cluster.nodes_per_nvlink_domain",
    "cluster.pools.0.gpu_limit",
    "cluster.pools.0.offerings.0.gpus",
    "cluster.pools.0.offerings.0.refused",
    "cluster.existing.0.count",
    "cluster.provider.removal",
    "cluster.provider.spot_interruptions_per_hour",
    "cluster.provider.spot_notice",
    "cluster.bandwidth.registry",
    "cluster.bandwidth.object_store",
    "cluster.bandwidth.node_nic",
    "cluster.bandwidth.node_disk",
    "cluster.scrape.interval",
    "cluster.scrape.delay",
    "cluster.scrape.loss",
    "cluster.scrape.stale_after",
    "cluster.scrape.missing_after",
    "cluster.actions.pod_creation",
    "cluster.actions.bind_latency",
    "cluster.actions.latency",
    "cluster.actions.refused",
    "cluster.actions.unknown",
    "cluster.actions.unknown_after",
    "cluster.termination_grace",
    "cluster.drain_poll",
    "cluster.scheduling_cycle",
    "cluster.memory_used_percent",
    "policies.0.scale.waiting_per_replica",
    "policies.0.scale.running_per_replica",
    "policies.0.scale.sync_period",
    "policies.0.scale.tolerance",
    "policies.0.scale.downscale_stabilization",
    "policies.0.provision.hold",
    "policies.0.provision.backoff",
    "policies.0.provision.min_nodes",
    "policies.0.provision.scan_interval",
    "policies.0.provision.consolidation.after",
};
constexpr const char* kValues[] = {"0",  "1",  "2",    "1024", "0s",    "1ms",     "1s",   "1h",
                                   "0%", "1%", "100%", "1B/s", "1GB/s", "0s..24h", "true", "[]"};

TEST(HostileWorld, EveryAcceptedScenarioRuns) {
  int ran = 0;
  for (const char* path : kPaths) {
    int ran_here = 0;
    for (const char* value : kValues) {
      const std::string set = std::string(path) + "=" + value;
      SCOPED_TRACE(set);
      const scenario::ScenarioResult scenario = scenario::parse_scenario(
          kWorld, "hostile.yaml",
          {.sets = {"duration=1m", "load.generator.rate=3", set}, .trace = {}, .seed = {}, .policies = {}});
      if (!scenario) {
        EXPECT_LT(scenario.error().text().size(), 2'000u);
        continue;
      }
      ++ran_here;
      if (scenario->duration > Duration(std::chrono::minutes(1))) continue;  // the changed value is the duration
      EXPECT_EQ(run_verified(*scenario, 0, 1).invariants.not_conserved, 0);
    }
    EXPECT_GT(ran_here, 0) << path << " takes none of the values; has the setting another name now?";
    ran += ran_here;
  }
  EXPECT_GT(ran, 200);
}

}  // namespace
}  // namespace capstan::experiment
