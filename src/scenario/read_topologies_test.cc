// Tests the topologies of a scenario's cluster, and the constraints of its gangs.
#include <gtest/gtest.h>

#include "scenario/scenario.h"

namespace capstan::scenario {
namespace {

constexpr const char* kFabric = R"(name: fabric
load: {generator: {rate: 1, input: 500, output: 100}, duration: 5m}
service:
  model: Llama-3.1-8B
  gpu: H100
  tensor_parallel: 4
  pods_per_replica: 4
  topology: {name: fabric, required: spine, preferred: leaf}
  slo: {ttft: 5s}
  replicas: {min: 1, max: 2}
cluster:
  zones: [a, b]
  racks_per_zone: 2
  nvlink_domains_per_rack: 4
  topologies:
    - {name: fabric, levels: [{name: spine, nvlink_domains: 8}, {name: leaf, nvlink_domains: 2}]}
  existing: [{instance: p5.48xlarge, count: 2}]
policies: [{name: fixed, scale: fixed, place: gang, provision: {policy: none}}]
)";

std::string with(std::string set) {
  const ScenarioResult scenario =
      parse_scenario(kFabric, "s.yaml", {.sets = {std::move(set)}, .trace = {}, .seed = {}, .policies = {}});
  return scenario ? "possible" : scenario.error().list.front().message;
}

TEST(ScenarioTopologies, GiveTheGangItsLevels) {
  const ScenarioResult scenario = parse_scenario(kFabric, "s.yaml");
  ASSERT_TRUE(scenario) << scenario.error().text();
  const model::Catalog& catalog = *scenario->catalog;
  const model::Workload& workload = scenario->workload();
  EXPECT_EQ(catalog.level_key(workload.required_level), "fabric/spine");
  ASSERT_TRUE(workload.preferred);
  EXPECT_EQ(catalog.level_key(*workload.preferred), "fabric/leaf");
  std::size_t spines = 0, leaves = 0;
  for (const model::Domain& domain : catalog.domains) {
    spines += domain.level == workload.required_level;
    leaves += domain.level == *workload.preferred;
  }
  EXPECT_EQ(spines, 2u) << "one in each zone";
  EXPECT_EQ(leaves, 8u);
}

TEST(ScenarioTopologies, ThePreferredLevelMayBeOfTheStandardTopology) {
  EXPECT_EQ(with("service={model: Llama-3.1-8B, gpu: H100, together: zone, topology: {preferred: rack}, slo: {ttft: "
                 "5s}, replicas: {min: 1, max: 2}}"),
            "possible");
}

TEST(ScenarioTopologies, SayWhatIsWrong) {
  const std::pair<const char*, const char*> rows[] = {
      {"service.topology.name=power", R"(service.topology.name: found "power", expected standard or fabric)"},
      {"service.topology.required=rack",
       R"(service.topology.required: found "rack", expected node, leaf, spine or cluster)"},
      {"service.topology.preferred=cluster",
       "service.topology.preferred: found cluster, expected fabric/spine or a narrower level of its topology"},
      {"cluster.topologies.0.name=standard",
       "cluster.topologies.name: found standard a second time, expected each topology once"},
      {"cluster.topologies.0.levels.1.name=spine",
       "cluster.topologies.levels.name: found spine a second time, expected each level once"},
      {"cluster.topologies.0.levels.1.nvlink_domains=3",
       "cluster.topologies.levels.nvlink_domains: found 3, expected a number that divides the 8 of a spine: otherwise "
       "one leaf would lie in two spines"},
      {"cluster.topologies.0.levels.0.nvlink_domains=16",
       "cluster.topologies.levels.nvlink_domains: found 16, expected a number that divides the 8 of a zone: otherwise "
       "one spine would lie in two zones"},
      {"cluster.topologies.0.levels=[]", "cluster.topologies.levels: found an empty list"},
      {"cluster.topologies.0.levels.0.colour=red", "cluster.topologies.levels: found key \"colour\""},
  };
  for (const auto& [set, message] : rows) {
    EXPECT_NE(with(set).find(message), std::string::npos) << set << ": " << with(set);
  }
}

}  // namespace
}  // namespace capstan::scenario
