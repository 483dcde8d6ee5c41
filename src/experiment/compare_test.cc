#include "experiment/compare.h"

#include <gtest/gtest.h>

#include "experiment/report/render.h"

namespace capstan::experiment {
namespace {

constexpr const char* kScenario = R"(name: small
load:
  generator: {rate: {kind: on_off, rate: 1, peak: 30, period: 4m, length: 1m}, input: 900, output: 120}
  duration: 12m
service:
  model: Llama-3.1-8B
  gpu: H100
  slo: {ttft: 1s, tpot: 50ms}
  replicas: {min: 1, max: 8}
cluster:
  pools: [{name: h100, gpu_limit: 64, offerings: [{instance: p5.48xlarge}]}]
  existing: [{instance: p5.48xlarge, pool: h100}]
policies:
  - {name: queue, scale: queue_hpa, place: gang, provision: group}
  - {name: duty, scale: duty_cycle_hpa, place: first_fit, provision: karpenter}
  - {name: memory, scale: memory_hpa, place: first_fit, provision: cluster_autoscaler}
)";

TEST(Compare, GivesTheSameBytesOnAnyNumberOfThreads) {
  const scenario::ScenarioResult scenario = scenario::parse_scenario(kScenario, "s.yaml");
  ASSERT_TRUE(scenario) << scenario.error().text();
  const Result<Comparison> one = compare(*scenario, 1);
  const Result<Comparison> three = compare(*scenario, 3);
  ASSERT_TRUE(one && three);
  EXPECT_TRUE(one->constant_fleet);
  EXPECT_EQ(render_json(*one), render_json(*three));
  EXPECT_EQ(render_text(*one, "s.yaml"), render_text(*three, "s.yaml"));
}

TEST(Compare, SaysWhyThereIsNoConstantFleetForSeveralUsers) {
  scenario::ScenarioResult scenario =
      scenario::parse_scenario(kScenario, "s.yaml",
                               {.sets = {"jobs=[{name: eval, gpu: H100, work: 1m, arrivals: {count: 1}}]"},
                                .trace = {},
                                .seed = {},
                                .policies = {}});
  ASSERT_TRUE(scenario) << scenario.error().text();
  const Result<Comparison> comparison = compare(*scenario, 1);
  ASSERT_TRUE(comparison);
  EXPECT_FALSE(comparison->constant_fleet);
  const std::string why = "best constant fleet is searched for only where one service has the cluster alone";
  EXPECT_NE(comparison->advice_left_out.find(why), std::string::npos);
  EXPECT_NE(render_json(*comparison).find(why), std::string::npos);
  EXPECT_NE(render_text(*comparison, "s.yaml").find("The best constant fleet"), std::string::npos);
  scenario->advice = false;
  const Result<Comparison> silent = compare(*scenario, 1);
  ASSERT_TRUE(silent);
  EXPECT_EQ(silent->advice_left_out, "");
}

TEST(Compare, SearchesNoConstantFleetForPodsThatAskForCpu) {
  const scenario::ScenarioResult scenario = scenario::parse_scenario(
      kScenario, "s.yaml", {.sets = {"service.cpu=1"}, .trace = {}, .seed = {}, .policies = {}});
  ASSERT_TRUE(scenario) << scenario.error().text();
  const Result<Comparison> comparison = compare(*scenario, 1);
  ASSERT_TRUE(comparison);
  EXPECT_FALSE(comparison->constant_fleet);
  EXPECT_NE(comparison->advice_left_out.find("ask for nothing but GPUs"), std::string::npos);
}

TEST(Compare, EveryPolicyServesTheSameRequests) {
  const scenario::ScenarioResult scenario = scenario::parse_scenario(kScenario, "s.yaml");
  ASSERT_TRUE(scenario);
  const Result<Comparison> comparison = compare(*scenario, 0);
  ASSERT_TRUE(comparison);
  ASSERT_EQ(comparison->results.size(), 3u);
  for (const RunResult& r : comparison->results) {
    SCOPED_TRACE(r.policy);
    EXPECT_EQ(r.requests.arrived, comparison->results[0].requests.arrived);
    EXPECT_GT(r.requests.arrived, 0);
    const RequestFigures& q = r.requests;
    EXPECT_EQ(q.arrived, q.completed + q.rejected + q.failed + q.timed_out + q.in_flight + q.queued);
    EXPECT_LE(r.useful_gpu_ns, r.paid_gpu_ns());
    EXPECT_EQ(r.invariants.not_conserved, 0);
    EXPECT_EQ(r.invariants.unobservable_values, 0);
  }
}

TEST(Compare, ReportsTheProgressOfAllPoliciesFromTheFirstMinute) {
  const scenario::ScenarioResult scenario = scenario::parse_scenario(kScenario, "s.yaml");
  ASSERT_TRUE(scenario);
  std::vector<Progress> reports;
  bool names_extra_runs = false;
  ASSERT_TRUE(compare(*scenario, 1, [&](const Progress& progress) {
    if (progress.stage.empty()) reports.push_back(progress);
    names_extra_runs = names_extra_runs || progress.stage.starts_with("constant fleet, run");
  }));
  EXPECT_TRUE(names_extra_runs);
  ASSERT_GE(reports.size(), 3 * 12u);
  EXPECT_EQ(reports.front().at, Instant{std::chrono::seconds(20)});  // one of three runs has simulated a minute
  EXPECT_EQ(reports.front().simulated, std::chrono::minutes(1));
  EXPECT_GE(reports.back().simulated, 3 * std::chrono::minutes(12));
  for (const Progress& progress : reports) EXPECT_EQ(progress.at, Instant{progress.simulated / 3});
}

TEST(Compare, EndsAtTheNextEventWhenItIsStopped) {
  const scenario::ScenarioResult scenario = scenario::parse_scenario(kScenario, "s.yaml");
  ASSERT_TRUE(scenario);
  for (const unsigned jobs : {1u, 3u}) {
    std::stop_source stop;
    unsigned reports = 0;
    const Result<Comparison> comparison = compare(
        *scenario, jobs,
        [&](const Progress&) {
          ++reports;
          stop.request_stop();
        },
        stop.get_token());
    ASSERT_FALSE(comparison);
    EXPECT_EQ(comparison.error().text(), "the simulation was stopped");
    EXPECT_LE(reports, jobs);  // a run reports at most the minute in which it was stopped
  }
}

TEST(Compare, ReturnsOneErrorForABadTrace) {
  const scenario::ScenarioResult scenario = scenario::parse_scenario(
      kScenario, "s.yaml", {.sets = {}, .trace = "/nowhere/trace.csv", .seed = {}, .policies = {}});
  ASSERT_TRUE(scenario) << scenario.error().text();
  const Result<Comparison> comparison = compare(*scenario, 2);
  ASSERT_FALSE(comparison);
  EXPECT_EQ(comparison.error().kind, ErrorKind::input);
}

}  // namespace
}  // namespace capstan::experiment
