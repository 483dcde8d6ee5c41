// Goal: Capstan's own policy in the whole simulator holds its SLO, rarely reverses a change and breaks no invariant,
// even if metrics are lost. The loads are generated, so that the policy cannot be fitted to a trace.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "experiment/report/frontier.h"
#include "experiment/run/prepare.h"
#include "scenario/scenario.h"

namespace capstan::experiment {
namespace {

constexpr const char* kOwnScenario = R"(
name: own
load:
  duration: 2h
  generator:
    rate: {}
    input: {{kind: log_normal, tokens: 750, sigma: 0.9, max: 8000}}
    output: {{kind: log_normal, tokens: 160, sigma: 0.8, max: 2000}}
service:
  model: Llama-3.1-8B
  gpu: H100
  slo: {{ttft: 1s, tpot: 50ms, attainment: 99%}}
  replicas: {{min: 1, max: 24, initial: 8}}
  start: {{weights_from: host_memory, engine_init: 50s..60s{} }}
  router: {{policy: least_loaded, gateway_max_waiting: 1000}}
cluster:
  image_cached_on_boot: true
  termination_grace: 10m
  scrape: {{{} }}
  existing: [{{instance: p5.48xlarge, count: 3}}]
policies:
  - {{name: own, scale: capstan, place: gang, provision: none}}
)";

RunResult own_run(const std::string& rate, std::uint64_t seed, const std::string& scrape = "",
                  const std::string& start = "") {
  const scenario::ScenarioResult scenario =
      scenario::parse_scenario(fmt::format(kOwnScenario, rate, start, scrape), "own.yaml");
  EXPECT_TRUE(scenario.has_value()) << (scenario ? "" : scenario.error().text());
  const Result<RunResult> result = run(*scenario, scenario->policies.front(), seed);
  EXPECT_TRUE(result.has_value());
  return *result;
}

const char* const kOwnSteady = "60";
const char* const kOwnWave = "{kind: diurnal, rate: 30, peak: 90, period: 1h, start: 0s}";

TEST(OwnPolicyRuns, ReplicasOfAWindowServeWhenItBegins) {
  const auto launch = [](const std::string& start, const std::string& windows) {
    scenario::ScenarioOverrides overrides;
    overrides.sets = {"service.start.engine_init=" + start};
    if (!windows.empty()) overrides.sets.push_back("service.replicas.windows=" + windows);
    const scenario::ScenarioResult scenario =
        scenario::read_scenario(CAPSTAN_SOURCE_DIR "/scenarios/known-launch.yaml", overrides);
    EXPECT_TRUE(scenario.has_value()) << (scenario ? "" : scenario.error().text());
    return run(*scenario, scenario->policies.front(), 1).value();
  };
  for (const char* const start : {"22s..30s", "112s..120s", "292s..300s"}) {
    const RunResult known = launch(start, "");
    EXPECT_GE(known.attainment_ppm(), 999'000) << start;
    EXPECT_EQ(known.reversals, 0) << start;
  }
  EXPECT_LT(launch("112s..120s", "~").attainment_ppm(), 980'000) << "without the window the SLO is missed";
  const RunResult unknown = launch("292s..300s", "~");
  EXPECT_GE(unknown.attainment_ppm(), 900'000);
  EXPECT_LE(unknown.paid_gpu_ns(), 2 * launch("292s..300s", "").paid_gpu_ns())
      << "an unknown start time does not double the cost";
}

TEST(OwnPolicyRuns, HoldsItsSloWithFewReversals) {
  for (const char* const rate : {kOwnSteady, kOwnWave}) {
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      const RunResult result = own_run(rate, seed);
      EXPECT_GE(result.attainment_ppm(), 990'000) << rate << " seed " << seed;
      EXPECT_LE(per_hour_milli(result.reversals, result.simulated), 1000) << rate << " seed " << seed;
      EXPECT_EQ(result.invariants.total(), 0);
    }
  }
}

TEST(OwnPolicyRuns, KeepsAReplicaWarmForRareBurstsUnlessMissesAreAccepted) {
  const scenario::ScenarioResult scenario =
      scenario::read_scenario(CAPSTAN_SOURCE_DIR "/scenarios/rare-bursts.yaml", {});
  ASSERT_TRUE(scenario.has_value()) << scenario.error().text();
  const RunResult kept = run(*scenario, scenario->policies.at(0), 1).value();
  const RunResult asleep = run(*scenario, scenario->policies.at(1), 1).value();
  EXPECT_GE(kept.attainment_ppm(), 999'000);
  EXPECT_EQ(kept.reversals, 0);
  EXPECT_LE(asleep.attainment_ppm(), 600'000) << "two of five minutes wait for a start";
  for (std::size_t burst = 1; burst < 12; ++burst) {
    EXPECT_EQ(kept.minutes.at(240 * burst - 1).desired, 1);
    EXPECT_EQ(asleep.minutes.at(240 * burst - 1).desired, 0);
  }
}

TEST(OwnPolicyRuns, ScalesToZeroIfTheErrorBudgetCoversTheColdStarts) {
  scenario::ScenarioOverrides overrides;
  // In three of every twelve hours 5,400 requests arrive, so a dozen late requests during a start do not matter.
  overrides.sets = {"load.generator.rate={kind: on_off, rate: 0, peak: 0.5, period: 12h, length: 3h}",
                    "service.start.engine_init=20s..24s", "service.replicas.initial=0"};
  const scenario::ScenarioResult scenario =
      scenario::read_scenario(CAPSTAN_SOURCE_DIR "/scenarios/rare-bursts.yaml", overrides);
  ASSERT_TRUE(scenario.has_value()) << scenario.error().text();
  const RunResult result = run(*scenario, scenario->policies.at(0), 1).value();
  EXPECT_GE(result.attainment_ppm(), 990'000);
  for (const std::size_t hour : {11, 23, 35}) EXPECT_EQ(result.minutes.at(60 * hour).desired, 0) << hour;
}

/// Returns the share of met requests from the minute before a zone is lost until its return, in ppm.
std::int64_t met_in_outage(const std::string& survive, std::size_t policy) {
  scenario::ScenarioOverrides overrides;
  overrides.sets = {"service.replicas.survive=" + survive};
  const scenario::ScenarioResult scenario =
      scenario::read_scenario(CAPSTAN_SOURCE_DIR "/scenarios/zone-outage.yaml", overrides);
  EXPECT_TRUE(scenario.has_value()) << (scenario ? "" : scenario.error().text());
  const RunResult result = run(*scenario, scenario->policies.at(policy), 1).value();
  EXPECT_EQ(result.invariants.total(), 0);
  EXPECT_GT(result.disruptions.spot, 0) << "the outage ended replicas";
  std::int64_t met = 0, arrived = 0;
  for (std::size_t minute = 89; minute < 120; ++minute) {
    met += result.minutes.at(minute).met;
    arrived += result.minutes.at(minute).arrived;
  }
  return met * 1'000'000 / arrived;
}

TEST(OwnPolicyRuns, SurvivesTheLossOfAZoneIfConfigured) {
  for (const std::size_t policy : {0, 1}) {
    EXPECT_GE(met_in_outage("zone", policy), 999'000) << policy;
    EXPECT_LE(met_in_outage("none", policy), 950'000) << policy;
  }
  EXPECT_GE(met_in_outage("node", 0), 900'000) << "the outage takes two nodes, and the fleet survives the loss of one";
}

TEST(OwnPolicyRuns, GivesBackUnneededReplicas) {
  const RunResult result = own_run(kOwnSteady, 1);
  EXPECT_LE(result.minutes.at(110).desired, 6) << "five replicas hold the SLO, and the run starts with eight";
}

TEST(OwnPolicyRuns, HoldsItsSloWithTenPercentOfTheScrapesLost) {
  const RunResult result = own_run(kOwnWave, 1, "loss: 10%");
  EXPECT_GE(result.attainment_ppm(), 990'000);
  EXPECT_EQ(result.invariants.scale_downs_without_data, 0);
}

TEST(OwnPolicyRuns, HoldsItsSloWithAOneMinuteBlackoutEveryTenMinutes) {
  const RunResult result = own_run(kOwnWave, 1, "blackout: 60s, blackout_every: 10m, stale_after: 30s");
  EXPECT_GE(result.attainment_ppm(), 990'000);
  EXPECT_EQ(result.invariants.scale_downs_without_data, 0);
}

TEST(OwnPolicyRuns, HoldsItsSloWhenStartsBecomeTwiceAsLong) {
  const RunResult result = own_run(kOwnWave, 1, "", ", slower_after: 20m, slower: 200%");
  EXPECT_GE(result.attainment_ppm(), 990'000);
}

}  // namespace
}  // namespace capstan::experiment
