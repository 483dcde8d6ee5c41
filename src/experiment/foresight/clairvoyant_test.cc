#include "experiment/foresight/clairvoyant.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "experiment/compare.h"
#include "experiment/foresight/known_requests.h"
#include "experiment/foresight/start_terms.h"
#include "experiment/report/render.h"

namespace capstan::experiment {
namespace {

using namespace std::chrono_literals;

/// A scenario whose nodes have one GPU and are available at once. A policy therefore pays for its replicas and nothing
/// else, from the beginning of each start.
constexpr const char* kTide = R"(name: tide
bound: true
load:
  generator: {rate: {kind: diurnal, rate: 20, peak: 120, period: 10m}, input: 800, output: 100}
  duration: 20m
service:
  model: Llama-3.1-8B
  gpu: H100
  slo: {ttft: 1s, tpot: 50ms, attainment: 99%}
  replicas: {min: 1, max: 16, initial: 6}
  start: {image_size: 0B, weights: 0B, engine_init: 20s, warm_up: 10s}
cluster:
  image_cached_on_boot: true
  nvlink_domains_per_rack: 20
  pools: [{name: h100, gpu_limit: 16, offerings: [{instance: p5.4xlarge}]}]
  existing: [{instance: p5.4xlarge, count: 6, pool: h100}]
policies:
  - name: sixteen
    scale: {policy: fixed, replicas: 16}
    place: gang
    provision: {policy: group, latency: {decision: 0s, boot: 0s, driver: 0s}}
  - name: by queue
    scale: {policy: queue_hpa, running_per_replica: 30}
    place: gang
    provision:
      policy: group
      latency: {decision: 0s, boot: 0s, driver: 0s}
      consolidation: {policy: when_empty, after: 1s}
)";

class Clairvoyance : public ::testing::Test {
 protected:
  static scenario::Scenario read(const std::vector<std::string>& sets = {}) {
    scenario::ScenarioResult scenario =
        scenario::parse_scenario(kTide, "tide.yaml", {.sets = sets, .trace = {}, .seed = {}, .policies = {}});
    EXPECT_TRUE(scenario) << scenario.error().text();
    return std::move(*scenario);
  }
};

TEST_F(Clairvoyance, NoPolicyThatHoldsTheSloPaysLessThanTheBound) {
  const Result<Comparison> comparison = compare(read(), 2);
  ASSERT_TRUE(comparison) << comparison.error().text();
  ASSERT_TRUE(comparison->clairvoyant);
  const Clairvoyant& clairvoyant = *comparison->clairvoyant;
  EXPECT_TRUE(clairvoyant.bound.solved);
  EXPECT_GT(clairvoyant.bound.gpu_ns, clairvoyant.bound.work_gpu_ns * 98 / 100);
  EXPECT_EQ(clairvoyant.bound.unattainable_requests, 0);
  EXPECT_GT(clairvoyant.bound.micro_usd, 0);

  const RunResult& achievable = clairvoyant.achievable.result;
  EXPECT_TRUE(clairvoyant.achievable.holds);
  EXPECT_GE(achievable.attainment_ppm(), 990'000);
  EXPECT_GE(achievable.paid_gpu_ns(), clairvoyant.bound.gpu_ns);
  EXPECT_GE(achievable.total_micro_usd(), clairvoyant.bound.micro_usd);
  EXPECT_LT(achievable.paid_gpu_ns(), clairvoyant.bound.gpu_ns * 17 / 10);
  // A policy that follows a plan reads no signals.
  EXPECT_EQ(achievable.invariants.total(), achievable.invariants.scale_downs_without_data);
  for (const RunResult& result : comparison->results) {
    SCOPED_TRACE(result.policy);
    if (result.attainment_ppm() >= 990'000) {
      EXPECT_GE(result.paid_gpu_ns(), clairvoyant.bound.gpu_ns);
    }
    EXPECT_EQ(over_achievable_milli(result, clairvoyant), result.paid_gpu_ns() * 1000 / achievable.paid_gpu_ns());
  }
  const auto sixteen = std::ranges::find(comparison->results, "sixteen", &RunResult::policy);
  EXPECT_GT(over_achievable_milli(*sixteen, clairvoyant), 1500);
}

TEST_F(Clairvoyance, TheResultDoesNotDependOnTheNumberOfThreads) {
  const scenario::Scenario scenario = read();
  const Result<Comparison> one = compare(scenario, 1);
  const Result<Comparison> two = compare(scenario, 2);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(render_json(*one), render_json(*two));
  EXPECT_EQ(render_text(*one, "tide.yaml"), render_text(*two, "tide.yaml"));
}

TEST_F(Clairvoyance, LongerStartsCostMore) {
  const scenario::Scenario quick = read();
  const scenario::Scenario slow = read({"service.start.engine_init=290s"});
  EXPECT_EQ(shortest_start(quick), 30s);
  EXPECT_EQ(shortest_start(slow), 300s);
  const Result<Clairvoyant> after_30 = foresee(quick, quick.policies.back());
  const Result<Clairvoyant> after_300 = foresee(slow, slow.policies.back());
  ASSERT_TRUE(after_30 && after_300);
  EXPECT_GT(after_300->bound.gpu_ns, after_30->bound.gpu_ns * 12 / 10);
  EXPECT_TRUE(after_300->achievable.holds);
}

TEST_F(Clairvoyance, StandingNodesArePaidForInEveryPlan) {
  const scenario::Scenario scenario =
      read({"cluster.pools=[]", "cluster.existing=[{instance: p5.48xlarge, count: 2}]",
            "policies=[{name: sixteen, scale: {policy: fixed, replicas: 16}, place: gang, provision: none}]"});
  const Result<Clairvoyant> clairvoyant = foresee(scenario, scenario.policies.front());
  ASSERT_TRUE(clairvoyant);
  EXPECT_GE(clairvoyant->bound.gpu_ns, 16 * std::chrono::nanoseconds(19min).count());
  EXPECT_EQ(clairvoyant->achievable.raised_ppm, 0);
  EXPECT_FALSE(clairvoyant->has_wide_gap());
}

TEST_F(Clairvoyance, ReportsAnSloThatNoShareReaches) {
  const scenario::Scenario scenario = read({"service.replicas={min: 1, max: 1}"});
  const Result<Clairvoyant> clairvoyant = foresee(scenario, scenario.policies.back());
  ASSERT_TRUE(clairvoyant);
  EXPECT_FALSE(clairvoyant->achievable.holds);
  EXPECT_LE(clairvoyant->achievable.runs, 12);
}

TEST_F(Clairvoyance, AClosedLoopIsAnError) {
  const scenario::Scenario scenario =
      read({"load={closed_loop: {concurrency: 4, input: 100, output: 10}, duration: 1m}"});
  const Result<std::vector<bound::KnownRequest>> requests = known_requests(scenario, 1);
  ASSERT_FALSE(requests);
  EXPECT_EQ(requests.error().kind, ErrorKind::infeasible);
}

}  // namespace
}  // namespace capstan::experiment
