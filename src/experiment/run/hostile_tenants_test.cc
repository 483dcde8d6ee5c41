// Whole runs of several services, queues and batch jobs in a world that refuses, delays and loses actions and takes
// nodes away. The invariants (docs/invariants.md) of repeatable decisions, conservation, limits and, under gang
// placement, whole gangs must hold. No queue may hold more GPUs than its limit.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "experiment/run/testing.h"

namespace capstan::experiment {
namespace {

constexpr std::uint64_t kTenantSeeds = 32;

// The minimum replicas of the services need three GPUs. The replicas that exist at the start need more GPUs than the
// smallest limits allow.
constexpr const char* kTenants = R"(name: hostile-tenants
duration: 25m
queues:
  - {name: all, gpu_limit: 14}
  - {name: serving, parent: all, gpu_limit: 10}
  - {name: batch, parent: all, gpu_limit: 6}
services:
  - name: chat
    queue: serving
    load:
      generator:
        rate: {kind: spike, rate: 1, peak: 10, start: 4m, length: 8m}
        input: {kind: log_normal, tokens: 900, sigma: 0.8, max: 8000}
        output: {kind: log_normal, tokens: 120, sigma: 0.7, max: 1000}
      duration: 25m
    model: Llama-3.1-8B
    gpu: H100
    slo: {ttft: 2s, tpot: 50ms}
    replicas: {min: 1, max: 6, initial: 3}
    engine_settings: {max_seqs: 8}
    start: {engine_init: 15s..25s, warm_up: 2s..4s}
  - name: code
    queue: serving
    load: {generator: {rate: 1, input: 1500, output: 100}, duration: 20m}
    model: Llama-3.1-8B
    gpu: H100
    slo: {ttft: 3s}
    replicas: {min: 1, max: 3}
    engine_settings: {max_seqs: 8}
    start: {engine_init: 15s..25s, warm_up: 2s..4s}
    roles: {prefill: {}, decode: {}, conversion: 5s}
  - name: large
    queue: all
    load: {generator: {rate: 0.5, input: 600, output: 80}, duration: 15m}
    model: Llama-3.1-8B
    gpu: H100
    tensor_parallel: 2
    pods_per_replica: 2
    slo: {ttft: 5s}
    replicas: {min: 0, max: 2, initial: 1}
    start: {engine_init: 15s..25s, warm_up: 2s..4s}
jobs:
  - {name: eval, queue: batch, gpu: H100, pods: {min: 1, max: 3}, work: {median: 2m, sigma: 1}, start: 5s..20s,
     checkpoint_every: 1m, arrivals: {per_hour: 60, until: 20m}, goal: {finish_within: 10m}}
  - {name: train, queue: batch, gpu: H100, pods: 2, gpus_per_pod: 2, together: zone, work: 4m, start: 20s,
     checkpoint_every: 2m, arrivals: {count: 2, at: 3m, every: 8m, until: 20m}}
cluster:
  racks_per_zone: 8
  pools:
    - name: h100
      gpu_limit: 20
      offerings:
        - {instance: half, gpu: h100_sxm, gpus: 4, usd_per_hour: 20, capacity: spot}
        - {instance: dear, gpu: h100_sxm, gpus: 4, usd_per_hour: 30}
  existing: [{instance: dear, gpu: h100_sxm, gpus: 4, usd_per_hour: 30, pool: h100, count: 3}]
policies:
  - name: capstan, gang, group
    scale: capstan
    place: gang
    provision: {policy: group, hold: 2m, consolidation: {policy: when_empty, after: 1m}}
  - name: queue, gang, karpenter
    scale: {policy: queue_hpa, waiting_per_replica: 1, running_per_replica: 5, downscale_stabilization: 1m}
    place: gang
    provision: karpenter
  - name: queue, first fit, cluster autoscaler
    scale: {policy: queue_hpa, waiting_per_replica: 1, running_per_replica: 5, downscale_stabilization: 1m}
    place: first_fit
    provision: cluster_autoscaler
)";

constexpr const char* kTenantFaults[] = {
    "cluster.actions.refused=15%",
    "cluster.actions.unknown=15%",
    "cluster.actions.unknown_after=2m",
    "cluster.actions.latency=10s",
    "cluster.actions.pod_creation=1s..60s",
    "cluster.scrape.loss=50%",
    "cluster.scrape.interval=45s",
    "cluster.pools.0.offerings.0.refused=100%",
    "cluster.provider.spot_interruptions_per_hour=600%",
    "cluster.provider.spot_notice=0s",
    "queues.all.gpu_limit=8",
    "queues.serving.gpu_limit=5",
    "queues.batch.gpu_limit=4",
    "services.chat.replicas={min: 0, max: 6, initial: 6}",
    "services.chat.priority=10",
    "services.large.queue=batch",
    "services.large.client={first_token_timeout: 4s, max_retries: 3, retry_timed_out: true}",
    "services.code.engine_perturbation=40%",
    "jobs.eval.preemptible=true",
    "jobs.train.preemptible=true",
    "jobs.train.priority=5",
};

class HostileTenants : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(HostileTenants, NoInvariantBreaks) {
  RandomStream coin(GetParam(), "hostile.tenants");
  const DrawnFaults drawn = draw_faults(kTenantFaults, coin);
  const std::size_t policy = coin.below(3);
  const scenario::ScenarioResult scenario =
      scenario::parse_scenario(kTenants, "hostile.yaml", {.sets = drawn.sets, .trace = {}, .seed = {}, .policies = {}});
  ASSERT_TRUE(scenario) << scenario.error().text() << drawn.words;
  const RunResult result = run_verified(*scenario, policy, GetParam());
  SCOPED_TRACE(result.policy + drawn.words);

  EXPECT_EQ(result.invariants.not_repeatable, 0);
  EXPECT_EQ(result.invariants.unobservable_values, 0);
  EXPECT_EQ(result.invariants.not_conserved, 0);
  EXPECT_EQ(result.invariants.limit_exceeded, 0);
  if (policy <= 1) {
    EXPECT_EQ(result.invariants.partial_gang, 0);
  }
  for (const QueueFigures& queue : result.queues) {
    if (queue.limit) {
      EXPECT_LE(queue.held_peak, *queue.limit) << queue.name;
    }
  }
  ASSERT_EQ(result.services.size(), 3u);
  RequestCount arrived = 0;
  for (const ServiceFigures& service : result.services) {
    const RequestFigures& r = service.requests;
    EXPECT_EQ(r.arrived, r.completed + r.in_flight + r.queued + r.unmet()) << service.name;
    arrived += r.arrived;
  }
  EXPECT_EQ(arrived, result.requests.arrived);
  ASSERT_EQ(result.jobs.size(), 2u);
  for (const JobFigures& jobs : result.jobs) {
    EXPECT_GT(jobs.arrived, 0) << jobs.name;
    EXPECT_EQ(jobs.arrived, jobs.ended + jobs.computing + jobs.waiting) << jobs.name;
    EXPECT_LE(jobs.lost_gpu_ns, jobs.computed_gpu_ns) << jobs.name;
    EXPECT_LE(jobs.computed_gpu_ns, jobs.gpu_ns + 1'000'000'000) << jobs.name;
  }
  // A second run gives the same bytes.
  if (GetParam() % 8 == 0) {
    EXPECT_EQ(run_verified(*scenario, policy, GetParam()).state_hash, result.state_hash);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, HostileTenants, ::testing::Range<std::uint64_t>(1, kTenantSeeds + 1));

TEST(HostileTenantsWorld, TheReplicasOfTheStartExceedASmallLimit) {
  const scenario::ScenarioResult scenario =
      scenario::parse_scenario(kTenants, "hostile.yaml",
                               {.sets = {"queues.serving.gpu_limit=3", "services.chat.replicas.initial=6"},
                                .trace = {},
                                .seed = {},
                                .policies = {}});
  ASSERT_TRUE(scenario) << scenario.error().text();
  const RunResult result = run_verified(*scenario, 0, 1);
  EXPECT_EQ(result.invariants.limit_exceeded, 0);
  EXPECT_EQ(result.queues.at(1).held_peak, whole_gpus(3));
  EXPECT_GT(result.queues.at(1).waiting_peak, MilliGpu{});
}

}  // namespace
}  // namespace capstan::experiment
