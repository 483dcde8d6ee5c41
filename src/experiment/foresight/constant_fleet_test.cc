#include "experiment/foresight/constant_fleet.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "experiment/compare.h"
#include "experiment/report/render.h"
#include "experiment/report/verdict.h"
#include "experiment/run/ranking.h"

namespace capstan::experiment {
namespace {

/// A load with two peaks on machines with one GPU.
constexpr const char* kTwoTides = R"(name: tides
load:
  generator: {rate: {kind: diurnal, rate: 10, peak: 90, period: 6m}, input: 800, output: 100}
  duration: 12m
service:
  model: Llama-3.1-8B
  gpu: H100
  slo: {ttft: 500ms, tpot: 30ms, attainment: 99%}
  replicas: {min: 1, max: 12, initial: 1}
  engine_settings: {max_seqs: 24}
  start: {image_size: 0B, weights: 0B, engine_init: 60s, warm_up: 10s}
cluster:
  image_cached_on_boot: true
  nvlink_domains_per_rack: 20
  pools: [{name: h100, gpu_limit: 16, offerings: [{instance: p5.4xlarge}]}]
  existing: [{instance: p5.4xlarge, count: 1, pool: h100}]
policies:
  - {name: by queue, scale: {policy: queue_hpa, running_per_replica: 20}, place: gang, provision: group}
)";

constexpr const char* kTwoRoles = R"(name: roles
load:
  generator: {rate: {kind: diurnal, rate: 10, peak: 60, period: 6m}, input: 1600, output: 100}
  duration: 6m
service:
  model: Llama-3.1-8B
  gpu: H100
  slo: {ttft: 400ms, tpot: 20ms, attainment: 99%}
  engine_settings: {max_seqs: 32}
  roles:
    prefill: {replicas: {min: 1, max: 5, initial: 4}}
    decode: {replicas: {min: 1, max: 5, initial: 4}}
cluster:
  image_cached_on_boot: true
  nvlink_domains_per_rack: 20
  pools: [{name: h100, gpu_limit: 16, offerings: [{instance: p5.4xlarge}]}]
  existing: [{instance: p5.4xlarge, count: 8, pool: h100}]
policies:
  - {name: four and four, scale: {policy: fixed, replicas: 4}, place: gang, provision: group}
)";

constexpr const char* kTwoVariants = R"(name: variants
load:
  generator: {rate: {kind: diurnal, rate: 10, peak: 60, period: 6m}, input: 800, output: 100}
  duration: 6m
service:
  model: Llama-3.1-8B
  slo: {ttft: 1s, tpot: 50ms, attainment: 99%}
  variants:
    - {name: h100, gpu: H100, replicas: {min: 0, max: 8, initial: 2}}
    - {name: a100, gpu: A100, replicas: {min: 0, max: 8, initial: 0}}
cluster:
  image_cached_on_boot: true
  nvlink_domains_per_rack: 20
  pools:
    - {name: h100, gpu_limit: 8, offerings: [{instance: p5.4xlarge}]}
    - {name: a100, gpu_limit: 8, offerings: [{instance: a2-ultragpu-1g, usd_per_hour: 1}]}
  existing: [{instance: p5.4xlarge, count: 2, pool: h100}]
policies:
  - {name: capstan, scale: capstan, place: gang, provision: group}
)";

scenario::Scenario scenario_of(const char* text, const std::vector<std::string>& sets = {}) {
  scenario::ScenarioResult scenario =
      scenario::parse_scenario(text, "s.yaml", {.sets = sets, .trace = {}, .seed = {}, .policies = {}});
  EXPECT_TRUE(scenario) << scenario.error().text();
  return std::move(*scenario);
}

/// Returns true if the fleet holds the SLO in a complete simulation. This is slower than the search, and the tests
/// compare the search with it.
bool fleet_holds(const scenario::Scenario& scenario, const ReplicaCounts& fleet) {
  const std::optional<StandingNodes> nodes = nodes_for(scenario, fleet);
  if (!nodes) return false;
  const scenario::Scenario standing = with_standing_fleet(scenario, fleet, *nodes);
  const Result<RunResult> result = run(standing, constant_policy(scenario, fleet), scenario.seed);
  EXPECT_TRUE(result);
  return result && holds_slo(*result, scenario.service().slo);
}

ConstantFleet found_in(const scenario::Scenario& scenario) {
  const Result<Comparison> comparison = compare(scenario, 2);
  EXPECT_TRUE(comparison) << comparison.error().text();
  EXPECT_TRUE(comparison->constant_fleet);
  return *comparison->constant_fleet;
}

TEST(ConstantFleetSearch, FindsTheSameAsTryingEveryNumber) {
  for (const char* peak : {"30", "90", "150"}) {
    for (const char* attainment : {"90%", "99%"}) {
      SCOPED_TRACE(std::string(peak) + " requests/s, " + attainment);
      const scenario::Scenario scenario = scenario_of(kTwoTides, {std::string("load.generator.rate.peak=") + peak,
                                                                  std::string("service.slo.attainment=") + attainment});
      ReplicaCount smallest = 1;
      while (smallest <= 12 && !fleet_holds(scenario, {smallest})) ++smallest;
      ASSERT_LE(smallest, 12);
      const ConstantFleet fleet = found_in(scenario);
      EXPECT_TRUE(fleet.holds_slo);
      EXPECT_TRUE(fleet.is_smallest);
      EXPECT_EQ(fleet.replicas, ReplicaCounts{smallest});
      EXPECT_EQ(fleet.result.cold_starts, 0) << "it stands from the start";
      EXPECT_LE(fleet.runs, 8);
    }
  }
}

TEST(ConstantFleetSearch, FindsTheCheapestPairThatTryingEveryPairFinds) {
  for (const char* input : {"400", "1600"}) {
    SCOPED_TRACE(input);
    const scenario::Scenario scenario = scenario_of(kTwoRoles, {std::string("load.generator.input=") + input});
    ReplicaCount fewest = 99;
    for (ReplicaCount prefill = 1; prefill <= 5; ++prefill) {
      for (ReplicaCount decode = 1; decode <= 5 && prefill + decode < fewest; ++decode) {
        if (fleet_holds(scenario, {prefill, decode})) fewest = prefill + decode;
      }
    }
    ASSERT_LE(fewest, 10);
    const ConstantFleet fleet = found_in(scenario);
    EXPECT_TRUE(fleet.holds_slo);
    EXPECT_EQ(fleet.replicas[0] + fleet.replicas[1], fewest) << fleet.words;
    EXPECT_NE(fleet.words.find(" prefill and "), std::string::npos) << fleet.words;
  }
}

TEST(ConstantFleetSearch, OnlyTheCheapestVariantIsUsed) {
  const scenario::Scenario scenario = scenario_of(kTwoVariants);
  const ConstantFleet fleet = found_in(scenario);
  EXPECT_TRUE(fleet.holds_slo);
  EXPECT_EQ(fleet.replicas[0], 0) << "A100 machines are cheaper for each request";
  EXPECT_TRUE(fleet_holds(scenario, fleet.replicas));
  EXPECT_FALSE(fleet_holds(scenario, {0, fleet.replicas[1] - 1}));
  EXPECT_EQ(fleet.words.find("h100"), std::string::npos);
}

TEST(ConstantFleetSearch, IfNoFleetHoldsTheSloTheLargestOneIsReturned) {
  const ConstantFleet fleet = found_in(scenario_of(kTwoTides, {"cluster.pools.0.gpu_limit=2"}));
  EXPECT_FALSE(fleet.holds_slo);
  EXPECT_EQ(fleet.replicas, ReplicaCounts{2});
  EXPECT_EQ(fleet.limits, std::vector<std::string>{"cluster.pools.0.gpu_limit: 2"});
  EXPECT_GE(fleet.result.simulated, std::chrono::minutes(12)) << "it is run to its end";
}

TEST(ConstantFleetSearch, ClosedLoopsAreSupported) {
  const ConstantFleet fleet = found_in(
      scenario_of(kTwoTides, {"load={closed_loop: {concurrency: 60, input: 800, output: 100}, duration: 4m}"}));
  EXPECT_TRUE(fleet.holds_slo);
  EXPECT_GT(fleet.replicas.front(), 1);
}

TEST(StandingFleet, UsesTheCheapestMachinesWithinTheLimits) {
  const scenario::Scenario scenario = scenario_of(
      kTwoTides, {"cluster.pools=[{name: large, gpu_limit: 8, offerings: [{instance: p5.48xlarge, usd_per_hour: 30}]},"
                  "{name: small, gpu_limit: 4, offerings: [{instance: p5.4xlarge, usd_per_hour: 5}]}]",
                  "cluster.existing=[{instance: p5.4xlarge, usd_per_hour: 9}]", "service.replicas.max=32"});
  const auto usd_per_hour = [&](ReplicaCount replicas) {
    const std::optional<StandingNodes> nodes = nodes_for(scenario, {replicas});
    return nodes ? nodes->micro_usd_per_hour / 1'000'000 : 0;
  };
  EXPECT_EQ(usd_per_hour(1), 9) << "a node of no pool is paid in any case";
  EXPECT_EQ(usd_per_hour(3), 9 + 5 + 5) << "two small machines are cheaper than a large one";
  EXPECT_EQ(usd_per_hour(9), 9 + 30) << "a full large machine is cheaper for each replica";
  EXPECT_EQ(usd_per_hour(10), 9 + 30 + 5);
  EXPECT_EQ(usd_per_hour(13), 9 + 30 + 4 * 5);
  EXPECT_EQ(usd_per_hour(14), 0) << "the limits of both pools are reached";
}

TEST(StandingFleet, NamesTheLimitsThatAllowNoLargerFleet) {
  const auto limits = [](ReplicaCount replicas, std::vector<std::string> sets) {
    sets.emplace_back("cluster.pools=[{name: h100, gpu_limit: 8, node_limit: 6, offerings: [{instance: p5.4xlarge}]}]");
    return size_limits(scenario_of(kTwoTides, sets), {replicas});
  };
  using Limits = std::vector<std::string>;
  EXPECT_EQ(limits(5, {"service.replicas.max=9"}), Limits{});
  EXPECT_EQ(limits(5, {"service.replicas.max=5"}), Limits{"service.replicas.max: 5"});
  EXPECT_EQ(limits(6, {"service.replicas.max=9"}), Limits{"cluster.pools.0.node_limit: 6"});
  EXPECT_EQ(limits(6, {"service.replicas.max=6"}),
            (Limits{"service.replicas.max: 6", "cluster.pools.0.node_limit: 6"}));
  EXPECT_EQ(limits(2, {"service.replicas.max=9", "cluster.racks_per_zone=1", "cluster.nvlink_domains_per_rack=2"}),
            Limits{"the 2 places for nodes in each zone (cluster.racks_per_zone and nvlink_domains_per_rack)"});
}

TEST(ConstantFleetSearch, TheAdviceDoesNotDependOnTheNumberOfThreads) {
  const scenario::Scenario scenario = scenario_of(kTwoTides);
  const Result<Comparison> one = compare(scenario, 1);
  const Result<Comparison> four = compare(scenario, 4);
  ASSERT_TRUE(one && four);
  ASSERT_TRUE(one->constant_fleet && one->raised_minimum);
  EXPECT_EQ(render_json(*one), render_json(*four));
  EXPECT_EQ(one->extra_runs, one->constant_fleet->runs + one->constant_fleet->seed_runs + one->raised_minimum->runs);
}

TEST(RaisedMinimumTrials, SettingTheValueRepeatsTheTrialIfItsNodesExist) {
  const std::string nodes = "cluster.existing=[{instance: p5.4xlarge, count: 8, pool: h100}]";
  const Result<Comparison> comparison = compare(scenario_of(kTwoTides, {nodes}), 2);
  ASSERT_TRUE(comparison && comparison->raised_minimum);
  const RaisedMinimum& raised = *comparison->raised_minimum;
  ASSERT_TRUE(raised.result) << verdict_words(*comparison);
  EXPECT_FALSE(holds_slo(comparison->results.front(), comparison->slo));
  EXPECT_TRUE(holds_slo(*raised.result, comparison->slo));
  EXPECT_LE(raised.runs, kMaxMinimumRuns + 2 * static_cast<int>(kCheckedSeeds));
  ASSERT_TRUE(raised.seeds);
  EXPECT_EQ(raised.seeds->outcomes.size(), kCheckedSeeds);
  EXPECT_EQ(raised.seeds->outcomes.front().attainment_ppm, raised.result->attainment_ppm());
  const std::string value = std::to_string(raised.min.front());
  EXPECT_EQ(raised.setting, "service.replicas.min: " + value);
  std::vector<std::string> sets{nodes};
  sets.insert(sets.end(), raised.sets.begin(), raised.sets.end());
  EXPECT_EQ(sets,
            (std::vector<std::string>{nodes, "service.replicas.min=" + value, "service.replicas.initial=" + value}));
  const scenario::Scenario set = scenario_of(kTwoTides, sets);
  const Result<RunResult> again = run(set, set.policies.front(), set.seed);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->state_hash, raised.result->state_hash);
}

TEST(RaisedMinimumTrials, NodesForTheRaisedMinimumExistFromTheStart) {
  const Result<Comparison> comparison = compare(scenario_of(kTwoTides), 2);
  ASSERT_TRUE(comparison && comparison->raised_minimum);
  ASSERT_TRUE(comparison->raised_minimum->result) << verdict_words(*comparison);
  EXPECT_TRUE(holds_slo(*comparison->raised_minimum->result, comparison->slo));
  const scenario::Scenario set = scenario_of(kTwoTides, comparison->raised_minimum->sets);
  const scenario::PolicySpec* policy = find_policy(set, comparison->raised_minimum->policy);
  ASSERT_NE(policy, nullptr);
  const Result<RunResult> again = run(set, *policy, set.seed);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->state_hash, comparison->raised_minimum->result->state_hash) << "the arguments state the nodes, too";
}

TEST(RaisedMinimumTrials, TheCheapestOutcomeOfSeveralPoliciesIsRecommended) {
  const std::string slow = "{name: slow, scale: queue_hpa, place: gang, provision: group}";
  const std::string large = "{name: large, scale: {policy: fixed, replicas: 2}, place: gang, provision: group}";
  const std::string late =
      "{name: late, scale: {policy: queue_hpa, waiting_per_replica: 20}, place: gang, provision: group}";
  const auto raised_for = [](const std::string& policies) {
    const Result<Comparison> comparison = compare(scenario_of(kTwoTides, {"policies=[" + policies + "]"}), 2);
    return comparison ? comparison->raised_minimum : std::nullopt;
  };
  const std::optional<RaisedMinimum> one = raised_for(slow), other = raised_for(late);
  const std::optional<RaisedMinimum> both = raised_for(slow + "," + late + "," + large);
  ASSERT_TRUE(one && one->result && other && other->result && both && both->result);
  EXPECT_EQ(both->result->total_micro_usd(),
            std::min(one->result->total_micro_usd(), other->result->total_micro_usd()));
  EXPECT_NE(both->policy, "large") << "its number of replicas is fixed";
}

TEST(RaisedMinimumTrials, AFixedNumberOfReplicasIsNotTried) {
  const Result<Comparison> comparison =
      compare(scenario_of(kTwoTides, {"policies.0.scale={policy: fixed, replicas: 1}"}), 1);
  ASSERT_TRUE(comparison);
  EXPECT_FALSE(comparison->raised_minimum);
}

TEST(Advice, IsLeftOutWhereTheScenarioAsksForNone) {
  scenario::Scenario scenario = scenario_of(kTwoTides);
  scenario.advice = false;
  const Result<Comparison> comparison = compare(scenario, 1);
  ASSERT_TRUE(comparison);
  EXPECT_FALSE(comparison->constant_fleet);
  EXPECT_EQ(comparison->extra_runs, 0);
}

TEST(Advice, RunsThatCanNoLongerHoldTheSloEndEarly) {
  const scenario::Scenario scenario = scenario_of(kTwoTides);
  const ReplicaCounts one{1};
  const scenario::Scenario standing = with_standing_fleet(scenario, one, *nodes_for(scenario, one));
  const scenario::PolicySpec policy = constant_policy(scenario, one);
  const std::vector<PlannedRun> planned = {{&standing, &policy, std::nullopt}, {&standing, &policy, 100}};
  const Result<std::vector<RunResult>> results = run_batch(planned, 2, "", {});
  ASSERT_TRUE(results);
  EXPECT_FALSE(exceeds_miss_limit((*results)[0], std::nullopt));
  EXPECT_TRUE(exceeds_miss_limit((*results)[1], 100));
  EXPECT_LT((*results)[1].simulated, (*results)[0].simulated);
  EXPECT_EQ(miss_limit(scenario, (*results)[0]), (*results)[0].requests.arrived / 100);
}

}  // namespace
}  // namespace capstan::experiment
