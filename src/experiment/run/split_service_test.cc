// Goal: a service with separate prefill and decode replicas is read, loaded, scaled and explained role by role.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <fstream>

#include "experiment/report/frontier.h"
#include "experiment/run/prepare.h"
#include "scenario/scenario.h"

namespace capstan::experiment {
namespace {

constexpr const char* kSplitScenario = R"(
name: split
load:
  duration: {}
  generator:
    rate: {}
    input: {{kind: log_normal, tokens: 750, sigma: 0.9, max: 8000}}
    output: {{kind: log_normal, tokens: 160, sigma: 0.8, max: 2000}}
service:
  model: Llama-3.1-8B
  gpu: H100
  slo: {{ttft: 1s, tpot: 50ms, attainment: 99%}}
  replicas: {{min: 1, max: 16, initial: 4}}
  start: {{weights_from: host_memory, engine_init: 50s..60s}}
  router: {{policy: least_loaded, gateway_max_waiting: 1000}}
  roles: {}
cluster:
  image_cached_on_boot: true
  termination_grace: 10m
  existing: [{{instance: p5.48xlarge, count: 4}}]
policies:
  - {{name: one, scale: {}, place: gang, provision: none}}
)";

const char* const kSplitRoles = "{prefill: {}, decode: {}}";
const char* const kSplitSteady = "60";
const char* const kSplitWave = "{kind: diurnal, rate: 30, peak: 90, period: 1h, start: 0s}";

scenario::ScenarioResult split_scenario(const std::string& scale, const std::string& roles = kSplitRoles,
                                        const std::string& rate = kSplitSteady, const std::string& length = "2h") {
  return scenario::parse_scenario(fmt::format(kSplitScenario, length, rate, roles, scale), "split.yaml");
}

RunResult split_run(const scenario::Scenario& scenario) {
  PreparedRun prepared = prepare(scenario, scenario.policies.front(), scenario.seed);
  prepared.setup.verify = true;
  const Result<RunResult> result = simulate(prepared.setup);
  EXPECT_TRUE(result.has_value());
  return *result;
}

TEST(SplitService, ARoleInheritsMissingKeysFromTheService) {
  const auto scenario =
      split_scenario("capstan", "{prefill: {tensor_parallel: 2}, decode: {replicas: {min: 2, max: 9}}}");
  ASSERT_TRUE(scenario.has_value()) << scenario.error().text();
  const std::vector<model::Service>& services = scenario->catalog->services;
  ASSERT_EQ(services.size(), 2u);
  EXPECT_EQ(services[0].workload.gpus_per_replica, 2);
  EXPECT_EQ(services[0].max_replicas, 16);
  EXPECT_EQ(services[1].workload.gpus_per_replica, 1);
  EXPECT_EQ(services[1].min_replicas, 2);
  EXPECT_EQ(services[1].prefill_service, model::ServiceId{0});
  EXPECT_FALSE(services[0].prefill_service.valid());
  EXPECT_EQ(scenario->endpoint().roles[0].replica.role, sim::EngineRole::prefill);
  EXPECT_EQ(scenario->endpoint().roles[1].replica.role, sim::EngineRole::decode);
}

struct SplitError {
  const char* scale;
  const char* roles;
  const char* says;
};

TEST(SplitService, ReportsFaultsOfARole) {
  const SplitError rows[] = {
      {"capstan", "{prefill: {}}", "service.roles lacks \"decode\""},
      {"capstan", "{prefill: {}, decode: {}, both: {}}",
       "found key \"both\", expected one of conversion, decode, decode_per_prefill or prefill"},
      {"capstan", "{prefill: {}, decode: {slo: {ttft: 1s}}}", "service.roles.decode: found key \"slo\""},
      {"capstan", "{prefill: {}, decode: {model: Llama-3.3-70B, tensor_parallel: 4}}", "expected one model"},
      {"capstan", "{prefill: {}, decode: {replicas: {min: 5, max: 4}}}", "service.roles.decode.replicas: min 5"},
      {"capstan", "{prefill: {}, decode: {replicas: {min: 32, max: 40}}}",
       "the minimum replicas of all services need 33 GPUs"},
      {"capstan", "{prefill: {}, decode: {gpu: H200}}", "no node has the GPU that the service runs on, h200_sxm"},
      {"capstan", "{prefill: {}, decode: {tensor_parallel: 2}, conversion: 5s}",
       "service.roles.conversion: prefill and decode differ in model, gpu, dtype or tensor_parallel"},
      {"capstan", "{prefill: {}, decode: {engine_settings: {max_seqs: 64}}, conversion: 5s}",
       "service.roles.conversion: prefill and decode differ in engine_settings"},
      {"capstan", "{prefill: {}, decode: {replicas: {min: 1, max: 4, survive: node}}, conversion: 5s}",
       "service.roles.conversion: found together with replicas.survive"},
      {"capstan", "{prefill: {}, decode: {}, conversion: soon}", "service.roles.conversion: found \"soon\""},
      {"capstan", "{prefill: {}, decode: {}, decode_per_prefill: {min: 3, max: 2}}",
       "service.roles.decode_per_prefill: min 3 is above max 2"},
      {"capstan", "{prefill: {}, decode: {}, decode_per_prefill: {max: 0}}", "service.roles.decode_per_prefill.max"},
      {"{prefill: capstan}", kSplitRoles, "scale lacks \"decode\""},
  };
  for (const SplitError& row : rows) {
    const auto scenario = split_scenario(row.scale, row.roles);
    ASSERT_FALSE(scenario.has_value()) << row.roles;
    EXPECT_NE(scenario.error().text().find(row.says), std::string::npos) << scenario.error().text();
  }
}

TEST(SplitService, ForesightIsRefused) {
  auto text = fmt::format(kSplitScenario, "2h", kSplitSteady, kSplitRoles, "capstan");
  const auto scenario =
      scenario::parse_scenario(text, "split.yaml", {.sets = {"bound=true"}, .trace = {}, .seed = {}, .policies = {}});
  ASSERT_FALSE(scenario.has_value());
  EXPECT_NE(scenario.error().text().find("the lower bound is computed only for replicas that do both"),
            std::string::npos);
}

TEST(SplitService, EachRoleHasAPolicyOfItsOwn) {
  const auto scenario = split_scenario("{prefill: {policy: fixed, replicas: 5}, decode: {policy: fixed, replicas: 3}}",
                                       kSplitRoles, kSplitSteady, "10m");
  ASSERT_TRUE(scenario.has_value()) << scenario.error().text();
  const RunResult result = split_run(*scenario);
  ASSERT_EQ(result.roles.size(), 2u);
  EXPECT_EQ(result.roles[0].ready_peak, 5);
  EXPECT_EQ(result.roles[1].ready_peak, 3);
  EXPECT_EQ(result.scale_steps.size(), 2u);
  EXPECT_EQ(result.scale_steps[1].role, model::Role::decode);
  EXPECT_EQ(result.requests.arrived, result.requests.completed);
}

TEST(SplitService, CapstanSizesBothRolesWithFewReversals) {
  for (const char* const rate : {kSplitSteady, kSplitWave}) {
    const auto scenario = split_scenario("capstan", kSplitRoles, rate);
    ASSERT_TRUE(scenario.has_value()) << scenario.error().text();
    const RunResult result = split_run(*scenario);
    EXPECT_GE(result.attainment_ppm(), 990'000) << rate;
    EXPECT_LE(per_hour_milli(result.reversals, result.simulated), 2000) << rate << ": two services";
    EXPECT_EQ(result.invariants.total(), 0) << rate;
    EXPECT_LT(result.roles[0].ready_mean_milli(result.minutes.size()), 4000) << rate;
  }
}

TEST(SplitService, ARatioHoldsAtAnyMoment) {
  const auto scenario =
      split_scenario("capstan", "{prefill: {}, decode: {}, decode_per_prefill: {max: 1.5}}", kSplitWave, "90m");
  ASSERT_TRUE(scenario.has_value()) << scenario.error().text();
  const RunResult result = split_run(*scenario);
  ReplicaCount prefill = 4, decode = 4;
  Instant at;
  for (const ScaleStep& step : result.scale_steps) {
    if (step.at > at) {
      EXPECT_LE(2 * decode, 3 * prefill) << whole_seconds(at.since_start);
    }
    at = step.at;
    (step.role == model::Role::prefill ? prefill : decode) = step.desired;
  }
  EXPECT_GE(result.attainment_ppm(), 990'000);
}

/// Returns a trace in which long prompts and long answers alternate every ten minutes.
std::string swing_trace() {
  const std::string path = ::testing::TempDir() + "swing.csv";
  std::string rows = "TIMESTAMP,ContextTokens,GeneratedTokens\n";
  for (int i = 0; i < 4000; ++i) {
    const bool reads = (i / 1000) % 2 == 0;  // one request every 0.6 s
    rows += fmt::format("2026-01-01 {:02}:{:02}:{:02}.{:03}0000,{},{}\n", i * 6 / 36'000, i * 6 / 600 % 60,
                        i * 6 / 10 % 60, i * 6 % 10 * 100, reads ? 6000 : 300, reads ? 40 : 700);
  }
  std::ofstream(path) << rows;
  return path;
}

TEST(SplitService, ReplicasChangeTheirRoleInsteadOfStarting) {
  const std::string trace = swing_trace();
  const auto run = [&](const std::string& roles) {
    const std::string text = fmt::format(kSplitScenario, "40m", kSplitSteady, roles, "capstan");
    const auto scenario = scenario::parse_scenario(
        text, "split.yaml", {.sets = {"load.scale=20"}, .trace = trace, .seed = {}, .policies = {}});
    EXPECT_TRUE(scenario.has_value()) << scenario.error().text();
    return split_run(*scenario);
  };
  const RunResult apart = run(kSplitRoles), convertible = run("{prefill: {}, decode: {}, conversion: 2s..4s}");
  EXPECT_EQ(apart.conversions, 0);
  EXPECT_GT(convertible.conversions, 0);
  EXPECT_LE(convertible.cold_starts, apart.cold_starts);
  EXPECT_GT(convertible.requests.met, apart.requests.met);
  EXPECT_EQ(convertible.invariants.total(), 0);
}

}  // namespace
}  // namespace capstan::experiment
