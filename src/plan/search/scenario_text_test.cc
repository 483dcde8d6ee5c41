#include "plan/search/scenario_text.h"

#include <gtest/gtest.h>

#include "plan/search/trials.h"
#include "plan/testing/sample_specs.h"
#include "scenario/scenario.h"

namespace capstan::plan {
namespace {

struct Written {
  PlanSpec spec{};
  LoadFacts load{};
  std::vector<FleetCandidate> candidates{};
  FleetOption fleet{};
};

/// Returns a fleet of the first candidate with 2 to 6 replicas of each role.
Written written(PlanSpec spec) {
  Written out{.spec = std::move(spec)};
  out.load = count_load(out.spec.services[0]).value();
  out.candidates = fleet_candidates(out.spec, out.spec.services[0], out.load, {}).value();
  out.fleet.candidate = &out.candidates.front();
  for (std::size_t i = 0; i < out.candidates.front().needs.size(); ++i) {
    out.fleet.minimum.push_back(2);
    out.fleet.maximum.push_back(6);
  }
  return out;
}

scenario::Scenario read_back(const Written& w, const Conditions& conditions = {}) {
  const std::string text = scenario_text(w.spec, w.spec.services[0], w.fleet, w.load, conditions);
  auto scenario = scenario::parse_scenario(text, "scenario.yaml");
  if (!scenario) {
    ADD_FAILURE() << scenario.error().list.front().text() << "\n" << text;
    return {};
  }
  return *scenario;
}

TEST(ScenarioText, ASpotOnlyFleetIsReclaimed) {
  PlanSpec spec = sample_specs::small_spec();
  spec.cluster.capacity = {model::CapacityType::spot};
  Written w = written(spec);
  ASSERT_EQ(w.fleet.candidate->base, model::CapacityType::spot);
  w.fleet.base = w.fleet.candidate->base;
  EXPECT_EQ(read_back(w).cluster.provider.spot_interruptions_per_million_hours, 20'000u);
}

TEST(ScenarioText, StatedTimesOfAColdStartAreSimulated) {
  PlanSpec spec = sample_specs::small_spec();
  spec.services[0].cold_start = {.image_pull = std::chrono::seconds(20),
                                 .weights = std::chrono::seconds(30),
                                 .engine_start = {std::chrono::seconds(40), std::chrono::seconds(40)}};
  const scenario::Scenario scenario = read_back(written(spec));
  const auto phases = start_phases(scenario);
  ASSERT_EQ(phases.size(), 5u);
  EXPECT_EQ(phases[1].typical, std::chrono::seconds(20));
  EXPECT_EQ(phases[2].typical, std::chrono::seconds(30));
  EXPECT_EQ(phases[3].longest, std::chrono::seconds(40));
}

TEST(ScenarioText, StatesTheServiceOfThePlan) {
  const Written w = written(sample_specs::chat_spec());
  const scenario::Scenario scenario = read_back(w);
  EXPECT_EQ(scenario.workload().model, "Llama-3.3-70B");
  EXPECT_EQ(scenario.workload().dtype, "fp8");
  EXPECT_EQ(scenario.workload().gpus_per_replica, w.fleet.candidate->engine.tp);
  EXPECT_EQ(scenario.service().slo.ttft, w.spec.services[0].slo.ttft);
  EXPECT_EQ(scenario.service().slo.attainment_ppm, w.spec.services[0].slo.attainment_ppm);
  EXPECT_EQ(scenario.service().min_replicas, 2);
  EXPECT_EQ(scenario.service().max_replicas, 6);
  EXPECT_EQ(scenario.endpoint().load.duration, w.load.length);
  ASSERT_EQ(scenario.policies.size(), 1u);
  EXPECT_EQ(scenario.policies[0].policies.name, "capstan");
}

TEST(ScenarioText, BuysThePartOfTheAddedNodesThatIsSpot) {
  Written w = written(sample_specs::small_spec());
  w.fleet.spot_ppm = 500'000;
  const scenario::Scenario scenario = read_back(w);
  ASSERT_EQ(scenario.catalog->pools.size(), 2u);
  // The base pool has 2 nodes for the minimum, half of the 4 nodes above it, and 1 node to replace that of a
  // lost zone.
  EXPECT_EQ(scenario.catalog->pools[0].limits.gpus, 5);
  EXPECT_EQ(scenario.catalog->pools[1].limits.gpus, 2);
  EXPECT_EQ(scenario.catalog->pools[1].name, "h100-spot");
}

TEST(ScenarioText, ScalesBothRolesOfADisaggregatedService) {
  const scenario::Scenario scenario = read_back(written(sample_specs::disaggregated_spec()));
  ASSERT_TRUE(scenario.endpoint().is_disaggregated());
  EXPECT_EQ(scenario.catalog->services[1].max_replicas, 6);
}

TEST(ScenarioText, TestsOfRobustnessChangeOneThing) {
  const Written w = written(sample_specs::chat_spec());
  const scenario::Scenario plain = read_back(w);
  const scenario::Scenario slow = read_back(w, {.start_percent = 200});
  EXPECT_EQ(slow.cluster.starts[0].engine_init.high, 2 * plain.cluster.starts[0].engine_init.high);
  EXPECT_EQ(slow.cluster.starts[0].weights.count, 2 * plain.cluster.starts[0].weights.count);
  EXPECT_EQ(slow.policies[0].provider.boot.low, 2 * plain.policies[0].provider.boot.low);
  EXPECT_EQ(read_back(w, {.load_percent = 150}).endpoint().load.scale, 1.5);
  const scenario::Scenario lost = read_back(w, {.lost_zone = "us-east-1a", .lost_at = std::chrono::minutes(5)});
  EXPECT_EQ(lost.cluster.provider.outages.size(), 1u);
}

TEST(ScenarioText, NodesThatExistAreNeverGivenBack) {
  PlanSpec spec = sample_specs::small_spec();
  spec.cluster.provisioner = Provisioner::none;
  spec.cluster.machines[0].existing = 8;
  const scenario::Scenario scenario = read_back(written(std::move(spec)));
  EXPECT_TRUE(scenario.catalog->pools.empty());
  std::int64_t nodes = 0;
  for (const sim::ExistingNodes& existing : scenario.cluster.existing) nodes += existing.count;
  EXPECT_EQ(nodes, 8);
}

}  // namespace
}  // namespace capstan::plan
