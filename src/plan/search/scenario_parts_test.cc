#include "plan/search/scenario_parts.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

std::string standing_nodes(std::int64_t existing, std::int64_t needed, std::int64_t unit) {
  ClusterSpec cluster;
  cluster.zones = {"a", "b", "c"};
  const MachineSpec machine{
      .name = "p5", .gpu = "h100_sxm", .gpus = 8, .on_demand_per_hour = MicroUsd{1'000'000}, .existing = existing};
  Yaml list = Yaml::list();
  add_initial_nodes(cluster, {.machine = &machine, .pool = "h100", .needed = needed, .unit = unit}, list);
  std::string words;
  for (const Yaml& nodes : list.elements()) {
    words += nodes.find("zone")->text() + nodes.find("count")->text() + (nodes.find("pool") != nullptr ? "+ " : " ");
  }
  return words;
}

TEST(ScenarioParts, NodesStandInTheZonesInTurn) {
  EXPECT_EQ(standing_nodes(0, 4, 1), "a2+ b1+ c1+ ");
  EXPECT_EQ(standing_nodes(2, 4, 1), "a1 a1+ b1 c1+ ") << "two of the four exist already, without a pool";
  EXPECT_EQ(standing_nodes(3, 0, 1), "a1 b1 c1 ") << "nodes that exist stand there without need";
}

TEST(ScenarioParts, NodesOfOneReplicaStandInOneZone) { EXPECT_EQ(standing_nodes(0, 4, 2), "a2+ b2+ "); }

TEST(ScenarioParts, NodesOfTheClusterAutoscalerComeLater) {
  PlanSpec spec;
  const auto decision = [&] { return provision_yaml(spec, {}).find("latency")->find("decision")->text(); };
  EXPECT_EQ(decision(), "3s..6s");
  spec.cluster.provisioner = Provisioner::cluster_autoscaler;
  EXPECT_EQ(decision(), "33s..46s");
  spec.cluster.provisioner = Provisioner::none;
  EXPECT_EQ(provision_yaml(spec, {}).text(), "none");
}

TEST(ScenarioParts, NodesStartAsTheSpecStates) {
  PlanSpec spec;
  const auto latency = [&](const char* key, std::int64_t percent) {
    return provision_yaml(spec, {.start_percent = percent}).find("latency")->find(key)->text();
  };
  EXPECT_EQ(latency("boot", 100), "1m..3m");
  EXPECT_EQ(latency("driver", 200), "1m..4m");
  spec.cluster.node_start.boot = {std::chrono::seconds(90), std::chrono::seconds(90)};
  EXPECT_EQ(latency("boot", 100), "1m30s..1m30s");
}

TEST(ScenarioParts, SpotNodesAreReclaimedAtTheStatedRate) {
  Yaml without, with;
  add_cluster_facts(5'000, false, without);
  EXPECT_EQ(without.find("provider"), nullptr);
  add_cluster_facts(5'000, true, with);
  EXPECT_EQ(with.find("provider")->find("spot_interruptions_per_hour")->text(), "0.5%");
}

TEST(ScenarioParts, APoolHasTheGpusOfItsMachines) {
  const MachineSpec machine{.name = "p5", .gpu = "h100_sxm", .gpus = 8, .spot_per_hour = MicroUsd{2'500'000}};
  const Yaml pool = pool_yaml(machine, "h100-spot", 3, model::CapacityType::spot);
  EXPECT_EQ(pool.find("gpu_limit")->text(), "24");
  const Yaml& offering = pool.find("offerings")->elements().at(0);
  EXPECT_EQ(offering.find("capacity")->text(), "spot");
  EXPECT_EQ(offering.find("usd_per_hour")->text(), "2.500000");
}

}  // namespace
}  // namespace capstan::plan
