#include <gtest/gtest.h>

#include <algorithm>

#include "plan/sections/sections.h"
#include "plan/sections/testing.h"

namespace capstan::plan {
namespace {

const Statement& node_statement(const Section& section, std::string_view name) {
  const auto found = std::ranges::find(section.statements, name, &Statement::name);
  EXPECT_NE(found, section.statements.end()) << name;
  return *found;
}

std::vector<std::string> node_files(const Section& section) {
  std::vector<std::string> files;
  for (const Manifest& manifest : section.manifests) files.push_back(manifest.file);
  return files;
}

using Files = std::vector<std::string>;

TEST(NodesSection, SaysWhichNodesOnlyAnAutoscalerAdds) {
  testing::SamplePlan plan = testing::chat_plan();
  plan.services.front().scaler = ScalerKind::constant;
  EXPECT_TRUE(nodes_section(plan.facts())
                  .answer.starts_with("2 nodes of p5.48xlarge (8 x h100), up to 6 under an autoscaler. "))
      << nodes_section(plan.facts()).answer;
}

TEST(PlanNodes, TheAnswerCountsTheNodesOfEachPool) {
  EXPECT_EQ(nodes_section(testing::chat_plan().facts()).answer,
            "2 to 6 nodes of p5.48xlarge (8 x h100). Empty nodes go after 1 h; nodes with replicas are never moved to "
            "save money.");
}

TEST(PlanNodes, ALimitShowsItsArithmetic) {
  const Section section = nodes_section(testing::chat_plan().facts());
  EXPECT_EQ(node_statement(section, "GPU limit of h100").value, "56 GPUs on 7 nodes");
  EXPECT_EQ(
      node_statement(section, "GPU limit of h100").why,
      "chat: 12 replicas x 4 GPUs, and 1 node more while a zone is lost, in whole nodes of 8 GPUs; without a limit an "
      "error in a scaler buys nodes without end");
  EXPECT_EQ(node_statement(section, "capacity of h100").value, "on-demand for 4 nodes, spot for 2 nodes more");
  EXPECT_EQ(node_statement(section, "time to a new node of h100").value, "1 min 30 s to 3 min");
}

TEST(PlanNodes, APriceSaysWhereItIsFrom) {
  testing::SamplePlan plan = testing::chat_plan();
  const Statement listed = node_statement(nodes_section(plan.facts()), "price of p5.48xlarge");
  EXPECT_EQ(listed.value, "on-demand 55.04 USD/h");
  constexpr std::string_view kListed =
      "list price in us-east-1, karpenter-provider-aws of 2026-07-20, spot SkyPilot's catalog v8 (data/instances.csv)";
  EXPECT_EQ(listed.why, kListed);
  EXPECT_EQ(listed.evidence, Evidence::catalogue);
  plan.spec.cluster.region = "eu-west-1";
  EXPECT_EQ(node_statement(nodes_section(plan.facts()), "price of p5.48xlarge").why,
            std::string(kListed) + "; the price in eu-west-1 may differ");
}

TEST(PlanNodes, PricesOfTheSpecHaveAStatementOfTheirOwn) {
  testing::SamplePlan plan = testing::chat_plan();
  MachineSpec& machine = plan.services[0].roles[0].machine;
  machine.reserved_per_hour = MicroUsd{30'000'000};
  const Section section = nodes_section(plan.facts());
  EXPECT_EQ(node_statement(section, "price of p5.48xlarge").value, "reserved 30.00 USD/h");
  EXPECT_EQ(node_statement(section, "price of p5.48xlarge").evidence, Evidence::stated);
  EXPECT_EQ(node_statement(section, "list price of p5.48xlarge").value, "on-demand 55.04 USD/h");
  EXPECT_EQ(node_statement(section, "list price of p5.48xlarge").evidence, Evidence::catalogue);
  machine.on_demand_per_hour = MicroUsd{50'000'000};
  EXPECT_EQ(node_statement(nodes_section(plan.facts()), "price of p5.48xlarge").value,
            "on-demand 50.00 USD/h, reserved 30.00 USD/h");
}

TEST(PlanNodes, AFleetThatMissedItsSloIsNotCalledOneThatHeldIt) {
  testing::SamplePlan plan = testing::chat_plan();
  plan.services[0].holds_slo = false;
  EXPECT_EQ(node_statement(nodes_section(plan.facts()), "pool h100").why,
            "the machine of the best simulated fleet of chat; none held the SLO");
}

TEST(PlanNodes, SpotIsNotChosenWhereTheSpecForbidsIt) {
  testing::SamplePlan plan = testing::azure_plan();
  plan.services[0].roles[0].machine.spot_per_hour = MicroUsd{9'000'000};
  EXPECT_EQ(node_statement(nodes_section(plan.facts()), "capacity of h100").evidence, Evidence::simulated);
  plan.spec.cluster.capacity = {model::CapacityType::on_demand};
  EXPECT_EQ(node_statement(nodes_section(plan.facts()), "capacity of h100").why, "the spec allows no spot nodes");
  EXPECT_EQ(node_statement(nodes_section(plan.facts()), "capacity of h100").evidence, Evidence::stated);
  plan.spec.defaults.push_back({.path = "cluster.capacity"});
  EXPECT_EQ(node_statement(nodes_section(plan.facts()), "capacity of h100").evidence, Evidence::assumed);
}

TEST(PlanNodes, WithoutASpotPriceNoSearchTriedSpotNodes) {
  testing::SamplePlan plan = testing::azure_plan();
  plan.services[0].roles[0].machine.spot_per_hour.reset();
  const Statement capacity = node_statement(nodes_section(plan.facts()), "capacity of h100");
  EXPECT_EQ(capacity.evidence, Evidence::catalogue);
  EXPECT_EQ(capacity.value, "on-demand, because no spot price is known");
  EXPECT_NE(capacity.why.find("state spot_usd_per_hour"), capacity.why.npos) << capacity.why;
}

TEST(PlanNodes, OnlyKarpenterHasBudgetsDriftAndExpiry) {
  const auto names = [](const Section& section) {
    std::string all;
    for (const Statement& statement : section.statements) all += statement.name + "\n";
    return all;
  };
  const std::string karpenter = names(nodes_section(testing::chat_plan().facts()));
  const Section groups = nodes_section(testing::batch_plan().facts());
  testing::SamplePlan azure = testing::azure_plan();
  azure.spec.cluster.provisioner = Provisioner::cluster_autoscaler;
  const Section managed = nodes_section(azure.facts());
  for (const char* name : {"replacement of nodes for a new image", "expiry", "longest drain of a node"}) {
    EXPECT_NE(karpenter.find(name), karpenter.npos) << name;
    EXPECT_EQ(names(groups).find(name), std::string::npos) << name;
    EXPECT_EQ(names(managed).find(name), std::string::npos) << name;
  }
  const std::string flag = "scale-down-gpu-utilization-threshold";
  EXPECT_NE(node_statement(groups, "consolidation").why.find(flag), std::string::npos);
  EXPECT_EQ(node_statement(managed, "consolidation").value, "by the profile of the cloud's autoscaler");
  EXPECT_EQ(managed.answer.find("Empty nodes go after 1 h"), std::string::npos) << managed.answer;
}

TEST(PlanNodes, EachCloudHasItsOwnObjects) {
  EXPECT_EQ(node_files(nodes_section(testing::chat_plan().facts())),
            (Files{"nodes/h100.yaml", "nodes/h100-spot.yaml", "nodes/h100-class.yaml"}));
  EXPECT_EQ(node_files(nodes_section(testing::azure_plan().facts())),
            (Files{"nodes/h100.yaml", "nodes/h100-class.yaml"}));
  EXPECT_EQ(node_files(nodes_section(testing::batch_plan().facts())),
            (Files{"nodes/eksctl/node-groups.yaml", "nodes/values/cluster-autoscaler.yaml",
                   "nodes/cluster-autoscaler-priority-expander.yaml"}));
  const Section gke = nodes_section(testing::gke_plan().facts());
  EXPECT_TRUE(gke.manifests.empty());
  EXPECT_EQ(gke.apply.size(), 2U);
}

TEST(PlanNodes, AGpuThatGkeDoesNotOfferHasNoNodePool) {
  testing::SamplePlan plan = testing::gke_plan();
  plan.services[0].roles[0].machine.gpu = "mi300x";
  const Section section = nodes_section(plan.facts());
  EXPECT_TRUE(section.apply.empty());
  EXPECT_EQ(node_statement(section, "node pool h100").value, "not written");
}

TEST(PlanNodes, ACloudIsServedByItsClusterAutoscalerOnRequest) {
  testing::SamplePlan plan = testing::azure_plan();
  plan.spec.cluster.provisioner = Provisioner::cluster_autoscaler;
  const Section section = nodes_section(plan.facts());
  EXPECT_TRUE(section.manifests.empty());
  EXPECT_EQ(section.apply.size(), 1U);
}

TEST(PlanNodes, NodesOnPremisesExistAlready) {
  testing::SamplePlan plan = testing::chat_plan();
  plan.spec.cluster.cloud = Cloud::on_premises;
  const Section section = nodes_section(plan.facts());
  EXPECT_TRUE(section.manifests.empty());
  EXPECT_EQ(section.apply.size(), 2U);
  EXPECT_EQ(section.answer,
            "2 to 6 nodes of p5.48xlarge (8 x h100). Nothing launches nodes in this cluster, so the nodes exist before "
            "the replicas do.");
}

}  // namespace
}  // namespace capstan::plan
