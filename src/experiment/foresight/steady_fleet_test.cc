#include "experiment/foresight/steady_fleet.h"

#include <gtest/gtest.h>

#include "experiment/compare.h"
#include "experiment/report/verdict.h"

namespace capstan::experiment {
namespace {

/// A load whose bursts differ from seed to seed, on machines with one GPU.
constexpr const char* kBursts = R"(name: bursts
load:
  generator: {rate: 40, arrivals: {process: gamma, shape: 0.1}, input: 800, output: 100}
  duration: 3m
service:
  model: Llama-3.1-8B
  gpu: H100
  slo: {ttft: 500ms, tpot: 30ms, attainment: 99%}
  replicas: {min: 1, max: MAX, initial: 1}
  engine_settings: {max_seqs: 24}
  start: {image_size: 0B, weights: 0B, engine_init: 60s, warm_up: 10s}
cluster:
  image_cached_on_boot: true
  nvlink_domains_per_rack: 40
  pools: [{name: h100, gpu_limit: 32, offerings: OFFERINGS}]
policies:
  - {name: by queue, scale: {policy: queue_hpa, running_per_replica: 20}, place: gang, provision: group}
)";
constexpr const char* kOnDemand = "[{instance: p5.4xlarge}]";

scenario::Scenario bursts(const std::string& max, const std::string& offerings = kOnDemand) {
  std::string text = kBursts;
  text.replace(text.find("MAX"), 3, max);
  text.replace(text.find("OFFERINGS"), 9, offerings);
  scenario::ScenarioResult read =
      scenario::parse_scenario(text, "s.yaml", {.sets = {}, .trace = {}, .seed = {}, .policies = {}});
  EXPECT_TRUE(read) << read.error().text();
  return std::move(*read);
}

TEST(SteadyFleet, IsLargerIfTheSmallestFleetMissesTheSloWithAnotherSeed) {
  const Result<Comparison> comparison = compare(bursts("24"), 2);
  ASSERT_TRUE(comparison && comparison->constant_fleet);
  const ConstantFleet& fleet = *comparison->constant_fleet;
  ASSERT_TRUE(fleet.holds_slo && fleet.seeds);
  EXPECT_EQ(fleet.seeds->outcomes.size(), kCheckedSeeds);
  ASSERT_FALSE(fleet.seeds->holds_with_all()) << "the load is too even for this test";
  ASSERT_TRUE(fleet.steady);
  EXPECT_GT(fleet.steady->replicas.front(), fleet.replicas.front());
  const std::string words = verdict_words(*comparison);
  EXPECT_NE(words.find(" " + fleet.steady->words + " would hold it with each of them, on average "), std::string::npos)
      << words;

  // The limit allows only the smallest fleet.
  const Result<Comparison> limited = compare(bursts(std::to_string(fleet.replicas.front())), 2);
  ASSERT_TRUE(limited && limited->constant_fleet);
  EXPECT_EQ(limited->constant_fleet->replicas, fleet.replicas);
  EXPECT_FALSE(limited->constant_fleet->steady);
}

TEST(SteadyFleet, RunsOnSpotMachinesOnlyIfThereAreNoOthers) {
  const char* both =
      "[{instance: p5.4xlarge, capacity: spot, usd_per_hour: 2}, {instance: p5.4xlarge, usd_per_hour: 5}]";
  const char* spot = "[{instance: p5.4xlarge, capacity: spot, usd_per_hour: 2}]";
  EXPECT_EQ(nodes_for(bursts("24", both), {3})->micro_usd_per_hour, 15'000'000);
  EXPECT_EQ(nodes_for(bursts("24", spot), {3})->micro_usd_per_hour, 6'000'000);
}

}  // namespace
}  // namespace capstan::experiment
