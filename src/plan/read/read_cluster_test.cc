#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "plan/read/read_spec.h"

namespace capstan::plan {
namespace {

constexpr std::string_view kClusterSpec = R"(services:
- name: chat
  model: meta-llama/Llama-3.3-70B-Instruct
  dtype: fp8
  slo: {ttft_p99: 2s, tpot: 40ms}
)";

/// Returns the errors of the spec with these changes; nothing if it is valid.
std::string cluster_errors(const std::vector<std::string>& sets) {
  const SpecResult spec = parse_plan_spec(kClusterSpec, "s.yaml", sets);
  return spec ? "" : spec.error().text();
}

TEST(ReadSpecCluster, AcceptsMachinesByNameAndByShape) {
  const SpecResult spec = parse_plan_spec(std::string(kClusterSpec) + R"(cluster:
  zones: [a]
  instances:
  - p5.48xlarge
  - {instance: own-box, gpu: H100, gpus: 4, usd_per_hour: 10, existing: 2}
)",
                                          "chat.yaml");
  ASSERT_TRUE(spec) << spec.error().text();
  ASSERT_EQ(spec->cluster.machines.size(), 2u);
  EXPECT_EQ(spec->cluster.machines[0].gpus, 8);
  EXPECT_FALSE(spec->cluster.machines[0].has_stated_price);
  EXPECT_EQ(spec->cluster.machines[1].existing, 2);
  EXPECT_TRUE(spec->cluster.machines[1].has_stated_price);
}

TEST(ReadSpecCluster, FiltersTheCatalogueByCloudAndGpu) {
  const std::vector<std::string> sets = {"cluster={cloud: gcp, gpus: [NVIDIA-H100-80GB-HBM3]}"};
  const SpecResult spec = parse_plan_spec(kClusterSpec, "s.yaml", sets);
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_EQ(spec->cluster.region, "us-central1");
  ASSERT_GE(spec->cluster.machines.size(), 4u);
  for (const MachineSpec& machine : spec->cluster.machines) EXPECT_EQ(machine.gpu, "h100_sxm") << machine.name;
}

TEST(ReadSpecCluster, RefusesInstancesWithOtherGpusThanTheAllowedOnes) {
  EXPECT_EQ(cluster_errors({"cluster={gpus: [H100], instances: [p5.48xlarge, p5.4xlarge]}"}), "");
  EXPECT_EQ(
      cluster_errors({"cluster={gpus: [H100], instances: [p5.48xlarge, {instance: p5.4xlarge, gpu: h100-3g.40gb, gpus: "
                      "2}]}"}),
      "")
      << "a slice counts as its GPU";
  const std::string refused = cluster_errors({"cluster={gpus: [L40S], instances: [p5.48xlarge]}"});
  EXPECT_NE(refused.find("cluster.instances: p5.48xlarge has H100 GPUs, and cluster.gpus at "), std::string::npos)
      << refused;
  EXPECT_NE(refused.find("allows only L40S; the nearest that is possible is to add H100 to cluster.gpus"),
            std::string::npos)
      << refused;
}

TEST(ReadSpecCluster, ASliceOfAGpuIsAKindOfItsOwn) {
  const std::vector<std::string> sets = {
      "cluster={instances: [p5.48xlarge, {instance: p5.4xlarge, gpu: h100-3g.40gb, gpus: 2}]}"};
  const SpecResult spec = parse_plan_spec(kClusterSpec, "s.yaml", sets);
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_EQ(spec->cluster.machines[1].gpu, "h100-3g.40gb");
  EXPECT_EQ(spec->cluster.machines[1].gpus, 2);
  EXPECT_FALSE(spec->cluster.machines[1].has_stated_price);  // the catalogue has the price of the whole machine
}

TEST(ReadSpecCluster, SaysThatPricesAreThoseOfAnotherRegion) {
  const auto prices = [](const std::string& set) -> std::string {
    const std::vector<std::string> sets = {set};
    const SpecResult spec = parse_plan_spec(kClusterSpec, "s.yaml", sets);
    if (!spec) return spec.error().text();
    const auto found = std::ranges::find(spec->defaults, "cluster.instances.usd_per_hour", &DefaultUsed::path);
    return found == spec->defaults.end() ? "" : found->value + ": " + found->why;
  };
  EXPECT_EQ(prices("cluster={region: eu-west-1}"),
            "prices of us-east-1: the catalogue has no prices of eu-west-1; state usd_per_hour of the instances");
  EXPECT_EQ(prices("cluster={region: us-gov-west-1, instances: [{instance: p5.48xlarge, usd_per_hour: 70}]}"), "");
  EXPECT_EQ(prices("cluster={region: us-east-1}"), "");
  EXPECT_EQ(prices("cluster={cloud: gcp}"), "");
}

TEST(ReadSpecCluster, AKeyWithoutAValueIsAsIfItWereNotThere) {
  const std::vector<std::string> sets = {"cluster={instances: ~, zones: ~}"};
  const SpecResult spec = parse_plan_spec(kClusterSpec, "s.yaml", sets);
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_GT(spec->cluster.machines.size(), 1u);
  EXPECT_EQ(spec->cluster.zones.size(), 3u);
  EXPECT_NE(std::ranges::find(spec->defaults, "cluster.instances", &DefaultUsed::path), spec->defaults.end());
}

TEST(ReadSpecCluster, UsesTheNodePoolsOfGke) {
  const std::vector<std::string> sets = {"cluster={cloud: gcp}"};
  const SpecResult spec = parse_plan_spec(kClusterSpec, "s.yaml", sets);
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_EQ(spec->cluster.provisioner, Provisioner::cluster_autoscaler);
  const auto used = std::ranges::find(spec->defaults, "cluster.provisioner", &DefaultUsed::path);
  ASSERT_NE(used, spec->defaults.end());
  EXPECT_EQ(used->value, "cluster_autoscaler");
}

TEST(ReadSpecCluster, ReportsMistakes) {
  const struct {
    const char* set;
    const char* message;
  } cases[] = {
      {"cluster.zones=[]", "expected at least one element"},
      {"cluster.zones=[us-east-1a, us-east-1a]", "cluster.zones: \"us-east-1a\" is given twice"},
      {"cluster.zones=[[a]]", "cluster.zones: found a list, expected the name of a zone"},
      {"cluster.zones=[eu-west-1a]",
       "cluster.zones: eu-west-1a is a zone of eu-west-1, not of cluster.region us-east-1, expected zones of "
       "us-east-1, "
       "or region: eu-west-1"},
      {"cluster={cloud: gcp, zones: [europe-west4-a]}", "europe-west4-a is a zone of europe-west4, not of"},
      {"cluster={cloud: azure, zones: [westeurope-1]}", "westeurope-1 is a zone of westeurope, not of"},
      {"cluster={cloud: gcp, provisioner: karpenter}",
       "cluster.provisioner: the plan writes no manifests of Karpenter for gcp; the nearest that is possible is "
       "cluster_autoscaler"},
      {"cluster={cloud: on_premises, provisioner: karpenter, instances: [{instance: own, gpu: H100, gpus: 8, "
       "usd_per_hour: 9, existing: 2}]}",
       "karpenter buys no machines on premises; the nearest that is possible is none, with `existing` of the "
       "instances"},
      {"cluster.gpus=[[H100]]", "expected a GPU kind such as H100"},
      {"cluster.gpus=[H1000]", "cluster.gpus: no step times of H1000 are known, the engine table has A100 (80 GiB), "},
      {"cluster.gpus=[T4]", "; the nearest to the 16 GiB of T4 is L40S; for another kind, state a table of your own"},
      {"cluster.capacity=[free]", "expected one of on_demand, spot or reserved"},
      {"cluster.instances=[{gpu: H100}]", "cluster.instances lacks \"instance\""},
      {"cluster.instances=[{instance: own}]", "cluster.instances lacks \"gpu\""},
      {"cluster.instances=[[p5.48xlarge]]", "found a list, expected a name, or a mapping"},
      {"cluster.instances=[{instance: own, gpu: H100, gpus: 8}]", "no price of own is known"},
      {"cluster.instances=[p5.48xlarge, p5.48xlarge]", "is given twice"},
      {"cluster.region=mars-1", "cluster.region is \"mars-1\", expected a region of aws such as us-east-1"},
      {"cluster={cloud: gcp, region: us-east-1}", "expected a region of gcp such as us-central1"},
      {"cluster={cloud: azure, region: us-east-1}", "expected a region of azure such as eastus"},
      {"cluster.provisioner=magic", "expected karpenter, cluster_autoscaler or none"},
  };
  for (const auto& c : cases) {
    const std::string found = cluster_errors({c.set});
    EXPECT_NE(found.find(c.message), std::string::npos) << c.set << found;
  }
}

}  // namespace
}  // namespace capstan::plan
