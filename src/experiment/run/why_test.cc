// Goal: no sentence of `why` names a false cause. Method: loads in which requests wait for exactly one known cause.
// Each policy must name this cause and no other.
#include <gtest/gtest.h>

#include <algorithm>

#include "experiment/compare.h"
#include "scenario/scenario.h"

namespace capstan::experiment {
namespace {

/// A spike that one replica cannot serve, on nodes with room for the maximum of replicas.
constexpr const char* kSpike = R"(
name: why
load:
  generator:
    rate: {kind: spike, rate: 1, peak: 30, start: 10m, length: 15m}
    input: {kind: log_normal, tokens: 700, sigma: 0.8, max: 8000}
    output: {kind: log_normal, tokens: 200, sigma: 0.8, max: 1000}
  duration: 30m
service:
  model: Llama-3.1-8B
  gpu: H100
  slo: {ttft: 1s, tpot: 60ms}
  replicas: {min: 1, max: 8, initial: 1}
  engine_settings: {max_seqs: 16}
  start: {engine_init: 20s, warm_up: 5s}
cluster:
  pools: [{name: h100, gpu_limit: 8, offerings: [{instance: p5.48xlarge}]}]
  existing: [{instance: p5.48xlarge, count: 1, pool: h100}]
policies:
  - {name: fixed, scale: {policy: fixed, replicas: 1}, place: gang, provision: group}
  - {name: queue, scale: {policy: queue_hpa, waiting_per_replica: 2, running_per_replica: 16},
     place: gang, provision: group}
  - {name: duty, scale: {policy: duty_cycle_hpa, target: 60%}, place: gang, provision: group}
  - {name: memory, scale: {policy: memory_hpa, target: 60%}, place: gang, provision: group}
  - {name: rules, scale: rules, place: gang, provision: group}
  - {name: keda, scale: {manifest: scenarios/manifests/keda-requests.yaml, labels: {namespace: chat}},
     place: gang, provision: group}
  - {name: knative, scale: {policy: knative_kpa, target: 16, min-scale: 1}, place: gang, provision: group}
  - {name: ray, scale: {policy: ray_serve, target_ongoing_requests: 16, max_replicas: 8}, place: gang, provision: group}
  - {name: wva1, scale: wva_v1, place: gang, provision: group}
  - {name: wva2, scale: wva_v2, place: gang, provision: group}
  - {name: aibrix, scale: {policy: aibrix_apa, targetMetric: num_requests_running, targetValue: 16},
     place: gang, provision: group}
  - {name: kpa, scale: {policy: aibrix_kpa, targetMetric: num_requests_running, targetValue: 16},
     place: gang, provision: group}
  - {name: aibrix_low, scale: {policy: aibrix_apa, targetMetric: num_requests_running, targetValue: 4},
     place: gang, provision: group}
  - {name: kpa_low, scale: {policy: aibrix_kpa, targetMetric: num_requests_running, targetValue: 4},
     place: gang, provision: group}
  - {name: dynamo, scale: {policy: dynamo_planner, max_gpu_budget: 8, gpus_per_engine: 1},
     place: gang, provision: group}
  - {name: capstan, scale: capstan, place: gang, provision: group}
)";

/// Returns the sentence for the longest wait of a run.
std::string why(const std::string& policy, const std::vector<std::string>& sets) {
  scenario::ScenarioOverrides overrides;
  overrides.sets = sets;
  const auto scenario = scenario::parse_scenario(kSpike, CAPSTAN_SOURCE_DIR "/why.yaml", overrides);
  if (!scenario) return scenario.error().text();
  const auto name = [](const scenario::PolicySpec& spec) { return spec.policies.name; };
  const auto spec = std::ranges::find(scenario->policies, policy, name);
  if (spec == scenario->policies.end()) return "no such policy";
  const RunResult result = run(*scenario, *spec, 1).value();
  for (const Moment& moment : result.moments) {
    if (moment.sentence.find(" waited while ") != std::string::npos) return moment.sentence;
  }
  return "nothing waited";
}

struct WhyCase {
  const char* teaches;
  std::vector<std::string> policies;
  std::vector<std::string> sets;
  const char* says;
  std::vector<const char*> never;
};

/// Policies that see the queue grow while replicas start. The other policies see no need for more replicas: one full
/// replica already meets their targets.
const std::vector<std::string> kScalers = {"queue",   "duty", "memory", "rules",   "keda",
                                           "knative", "ray",  "dynamo", "capstan", "aibrix_low"};

const WhyCase kRows[] = {
    {"a fixed number of replicas is the cause",
     {"fixed"},
     {},
     "the policy sets 1 replica, whatever the load is",
     {"starting", "without GPUs"}},
    {"a long start is the cause, and no missing reading or fixed number",
     kScalers,
     {"service.start.engine_init=12m"},
     " starting)",
     {"no usable reading", "the policy sets", "without GPUs"}},
    {"the metric of replicas that start is not called silent",
     {"wva1", "wva2", "aibrix", "kpa"},
     {"service.start.engine_init=12m"},
     "waited while",
     {"no usable reading", "the policy sets"}},
    {"a fleet without room is the cause",
     {"queue", "duty", "memory", "rules", "keda", "knative", "ray", "wva1", "wva2", "aibrix_low", "kpa_low", "capstan"},
     {"service.tensor_parallel=4"},
     " without GPUs)",
     {"no usable reading", "the policy sets", "starting"}},
    {"a fleet without room is the cause, and the KV cache is full",
     {"dynamo"},
     {"service.tensor_parallel=4", "service.engine_settings.max_seqs=64", "service.engine_settings.kv_blocks=1000"},
     " without GPUs)",
     {"no usable reading", "the policy sets", "starting"}},
    {"a full queue is the cause",
     {"queue", "keda", "capstan"},
     {"queues=[{name: all, gpu_limit: 1}, {name: chat, parent: all}]", "service.queue=chat"},
     " without GPUs: queue all holds 1 of its 1 GPUs)",
     {"no usable reading", "the policy sets", "starting"}},
    {"the maximum is the cause",
     {"queue", "duty", "memory", "rules", "keda", "knative", "ray", "wva1", "wva2", "aibrix_low", "kpa_low", "dynamo",
      "capstan"},
     {"service.replicas.max=2"},
     "the maximum is 2",
     {"no usable reading", "the policy sets", "without GPUs"}},
    {"replicas that serve and give no reading are the cause",
     {"queue", "duty", "memory", "rules", "keda", "knative", "ray", "wva1", "wva2", "aibrix", "kpa", "dynamo",
      "capstan"},
     {"cluster.scrape.loss=100%"},
     "gave no usable reading",
     {"the policy sets", "starting", "without GPUs"}},
};

TEST(Why, NamesOnlyTheCauseThatApplies) {
  for (const WhyCase& row : kRows) {
    for (const std::string& policy : row.policies) {
      SCOPED_TRACE(std::string(row.teaches) + ": " + policy);
      const std::string sentence = why(policy, row.sets);
      EXPECT_NE(sentence.find(row.says), std::string::npos) << sentence;
      for (const char* cause : row.never) EXPECT_EQ(sentence.find(cause), std::string::npos) << sentence;
    }
  }
}

/// A run beyond 106 days, whose picoseconds exceed 64 bits, and beyond 2.56 million GPU-hours, whose nanoseconds do.
TEST(Why, FiguresOfLongAndLargeRunsDoNotOverflow) {
  scenario::ScenarioOverrides overrides;
  overrides.sets = {"load.generator.rate={kind: constant, rate: 0.0001}",
                    "load.duration=2640h",
                    "cluster.nodes_per_nvlink_domain=1000",
                    "cluster.existing=[{instance: p5.48xlarge, count: 130}]",
                    "cluster.scrape.interval=10m",
                    "policies.0={name: fixed, scale: {policy: fixed, replicas: 1, period: 1h}, place: {policy: gang, "
                    "period: 1h}, provision: group}"};
  const auto scenario = scenario::parse_scenario(kSpike, CAPSTAN_SOURCE_DIR "/why.yaml", overrides);
  ASSERT_TRUE(scenario.has_value()) << scenario.error().text();
  const RunResult result = run(*scenario, scenario->policies.front(), 1).value();
  EXPECT_EQ(result.simulated, std::chrono::hours(2640));
  EXPECT_EQ(result.requests.met, result.requests.arrived);
  EXPECT_TRUE(result.paid_gpu_ns() == GpuNanoseconds{3'600'000'000'000} * 2640 * 130 * 8);
  EXPECT_EQ(result.invariants.total(), 0);
  EXPECT_GT(result.ttft.p50_us, 1000);
}

/// Nodes cost money in a day without requests.
TEST(Why, AStandingNodeCostsMoneyWithoutRequests) {
  scenario::ScenarioOverrides overrides;
  overrides.sets = {"load.generator.rate=0", "load.duration=24h",
                    "cluster.existing=[{instance: p5.48xlarge, count: 1}]"};
  const auto scenario = scenario::parse_scenario(kSpike, CAPSTAN_SOURCE_DIR "/why.yaml", overrides);
  ASSERT_TRUE(scenario.has_value()) << scenario.error().text();
  const RunResult result = run(*scenario, scenario->policies.front(), 1).value();
  EXPECT_EQ(result.requests.arrived, 0);
  EXPECT_TRUE(result.paid_gpu_ns() == GpuNanoseconds{3'600'000'000'000} * 24 * 8);
  EXPECT_GT(result.total_micro_usd(), 0);
}

}  // namespace
}  // namespace capstan::experiment
