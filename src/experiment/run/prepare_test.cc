#include "experiment/run/prepare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "sim/cluster/cluster_fixture.h"

namespace capstan::experiment {
namespace {

using std::chrono::seconds;

constexpr const char* kNodesScenario = R"(name: nodes
load: {generator: {rate: 1, input: 100, output: 10}, duration: 5m}
service:
  model: Llama-3.1-8B
  gpu: H100
  slo: {ttft: 1s}
  replicas: {min: 1, max: 8}
cluster:
  pools: [{name: h100, gpu_limit: 64, offerings: [{instance: p5.48xlarge}]}]
policies:
  - {name: cluster-autoscaler, scale: queue_hpa, place: first_fit, provision: cluster_autoscaler}
  - {name: karpenter, scale: queue_hpa, place: first_fit, provision: karpenter}
  - {name: group, scale: queue_hpa, place: gang, provision: group}
)";

struct PreparedRow {
  const char* policy;
  seconds fastest, slowest;   ///< time from the request for a node until it accepts pods
  seconds shortest, longest;  ///< wait of the provisioner's loop before it requests a node
};
// Published figures, data/cold_start.csv: 90-120 s with Cluster Autoscaler, 45-60 s with Karpenter and others that call
// the provider directly. Cluster Autoscaler acts every 10 s; Karpenter's batch is open for 1 to 10 s.
constexpr PreparedRow kPreparedRows[] = {
    {"cluster-autoscaler", seconds(90), seconds(120), seconds(0), seconds(10)},
    {"karpenter", seconds(45), seconds(60), seconds(1), seconds(10)},
    {"group", seconds(45), seconds(60), seconds(0), seconds(0)},
};

TEST(Prepare, EachProvisionerHasItsPublishedLaunchTimes) {
  const scenario::ScenarioResult scenario = scenario::parse_scenario(kNodesScenario, "s.yaml");
  ASSERT_TRUE(scenario) << scenario.error().text();
  for (std::size_t i = 0; i < std::size(kPreparedRows); ++i) {
    const PreparedRow& row = kPreparedRows[i];
    SCOPED_TRACE(row.policy);
    ASSERT_EQ(scenario->policies.at(i).policies.name, row.policy);
    const decide::provision::Policy& policy = *scenario->policies[i].policies.provision;
    EXPECT_EQ(std::max(policy.scan_interval, policy.batch_max), row.longest);
    EXPECT_EQ(policy.batch_idle, row.shortest);
    Duration fastest = Duration::max(), slowest{};
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      const PreparedRun prepared = prepare(*scenario, scenario->policies[i], seed);
      sim::test::FakeServing serving;
      sim::Cluster cluster(prepared.setup.cluster, seed, serving);
      cluster.advance({});
      cluster.submit({model::LaunchNodes{{0}, {0}, {}, 8, {}, {}}, {}});
      cluster.advance({seconds(200)});
      EXPECT_EQ(cluster.truth().nodes.size(), 8u);
      cluster.truth().nodes.for_each([&](model::NodeId, const model::Node& node) {
        const Duration took = node.ready_at - cluster.truth().claims.at(node.claim).requested_at;
        fastest = std::min(fastest, took), slowest = std::max(slowest, took);
      });
    }
    EXPECT_GE(fastest, row.fastest);
    EXPECT_LE(slowest, row.slowest);
    // 320 draws come near both ends of the range.
    EXPECT_LT(fastest, row.fastest + (row.slowest - row.fastest) / 4);
    EXPECT_GT(slowest, row.slowest - (row.slowest - row.fastest) / 4);
  }
}

TEST(Prepare, WarnsOfMachinesWithoutRoomInTheCluster) {
  const scenario::ScenarioOverrides one_machine{
      .sets = {"service.replicas.min=12", "service.replicas.max=12", "cluster.racks_per_zone=1",
               "cluster.nvlink_domains_per_rack=1"},
      .trace = {},
      .seed = {},
      .policies = {"karpenter"}};
  for (const bool roomy : {false, true}) {
    scenario::ScenarioOverrides overrides = one_machine;
    if (roomy) overrides.sets.back() = "cluster.nvlink_domains_per_rack=2";
    const scenario::ScenarioResult scenario = scenario::parse_scenario(kNodesScenario, "nodes.yaml", overrides);
    ASSERT_TRUE(scenario.has_value()) << scenario.error().text();
    const Result<RunResult> result = run(*scenario, scenario->policies.front(), 1);
    ASSERT_EQ(result->warnings.size(), roomy ? 0u : 1u);
    if (!roomy) {
      EXPECT_NE(result->warnings[0].find("found no room"), std::string::npos) << result->warnings[0];
    }
  }
}

TEST(Prepare, TheSimulatedEngineDiffersFromTheTableAsConfigured) {
  for (const auto& [perturbation, spread_ppm] : {std::pair{"0", 0}, {"2.5%", 25'000}, {"10%", 100'000}}) {
    SCOPED_TRACE(perturbation);
    const scenario::ScenarioResult scenario =
        scenario::parse_scenario(kNodesScenario, "s.yaml",
                                 {.sets = {std::string("service.engine_perturbation=") + perturbation},
                                  .trace = {},
                                  .seed = {},
                                  .policies = {}});
    ASSERT_TRUE(scenario) << scenario.error().text();
    const PreparedRun prepared = prepare(*scenario, scenario->policies.front(), 7);
    EXPECT_EQ(prepared.engines.front().model->coefficients(),
              engine::perturbed(scenario->role().engine->coefficients, 7, spread_ppm));
  }
}

TEST(Prepare, GivesAPolicyItsOwnBounds) {
  const scenario::ScenarioResult scenario = scenario::parse_scenario(kNodesScenario, "s.yaml");
  ASSERT_TRUE(scenario) << scenario.error().text();
  scenario::PolicySpec policy = scenario->policies.front();
  policy.bounds = {scenario::ManifestBounds{.replicas = {.min = 2, .max = 4}}};
  const PreparedRun prepared = prepare(*scenario, policy, 1);
  EXPECT_EQ(prepared.setup.cluster.catalog->services.front().min_replicas, 2);
  EXPECT_EQ(prepared.setup.cluster.catalog->services.front().max_replicas, 4);
  EXPECT_EQ(scenario->catalog->services.front().max_replicas, 8);
}

}  // namespace
}  // namespace capstan::experiment
