// Goal: services and jobs state CPU, memory and labels, nodes have them, and pods that fit on no node are refused.
#include "scenario/pod_needs.h"

#include <gtest/gtest.h>

#include "scenario/scenario.h"

namespace capstan::scenario {
namespace {

constexpr const char* kNeeds = R"(name: needs
load: {generator: {rate: 2, input: 200, output: 50}, duration: 5m}
service:
  model: Llama-3.1-8B
  gpu: H100
  slo: {ttft: 1s}
  replicas: {min: 1, max: 4}
  cpu: 8
  memory: 64Gi
  node_selector: {tier: serving}
jobs:
  - {name: train, gpu: H100, gpus_per_pod: 8, cpu: 96, memory: 1Ti, work: 20m, arrivals: {count: 2}}
cluster:
  pools:
    - name: h100
      gpu_limit: 32
      offerings:
        - {instance: p5.48xlarge, labels: {tier: serving}}
        - {instance: own, gpu: H100, gpus: 8, usd_per_hour: 20, cpu: 500m}
  existing: [{instance: p5.48xlarge, cpu: 96, pool: h100}]
policies:
  - {name: a, scale: capstan, place: gang, provision: group}
)";

ScenarioResult needs_with(std::vector<std::string> sets) {
  return parse_scenario(kNeeds, "s.yaml", {.sets = std::move(sets), .trace = {}, .seed = {}, .policies = {}});
}

TEST(PodNeeds, PodsAndNodesHaveCpuMemoryAndLabels) {
  const ScenarioResult scenario = needs_with({});
  ASSERT_TRUE(scenario.has_value()) << scenario.error().text();
  const model::Catalog& catalog = *scenario->catalog;
  const model::PodClass* chat = catalog.eligibility.find(catalog.services[0].workload.pod_class);
  ASSERT_NE(chat, nullptr);
  EXPECT_EQ(chat->requests.cpu_milli, 8000);
  EXPECT_EQ(chat->requests.memory_mib, 64 * 1024);
  const model::PodClass* train = catalog.eligibility.find(scenario->jobs[0].job_class.pod_class);
  ASSERT_NE(train, nullptr);
  EXPECT_EQ(train->requests.memory_mib, 1024 * 1024);

  const auto empty = [&](std::uint32_t offering) { return *catalog.resources_of_new_node({offering}); };
  EXPECT_EQ(empty(0).cpu_milli, 192'000) << "the table of instances has 192 vCPUs";
  EXPECT_EQ(empty(0).memory_mib, 2048 * 1024);
  EXPECT_EQ(empty(1).cpu_milli, 500);
  EXPECT_EQ(empty(1).memory_mib, model::kUnlimited) << "an amount that is not stated limits nothing";
  EXPECT_EQ(empty(2).cpu_milli, 96'000) << "the file replaces an amount of the table";

  const model::PodClassId pods = catalog.services[0].workload.pod_class;
  EXPECT_TRUE(catalog.eligibility.admits(pods, {{0}, {0}}));
  EXPECT_FALSE(catalog.eligibility.admits(pods, {{0}, {1}})) << "the own machine lacks the label";
  EXPECT_FALSE(chat->admits(scenario->cluster.existing[0].node_class));
  EXPECT_TRUE(train->admits(scenario->cluster.existing[0].node_class));
}

TEST(PodNeeds, WithoutThemNothingIsKnownAboutNodes) {
  const ScenarioResult scenario = needs_with(
      {"service.cpu=~", "service.memory=~", "service.node_selector=~", "jobs.train.cpu=~", "jobs.train.memory=~"});
  ASSERT_TRUE(scenario.has_value()) << scenario.error().text();
  EXPECT_TRUE(scenario->catalog->instance_types.empty());
  EXPECT_EQ(scenario->catalog->eligibility, model::Eligibility{});
}

TEST(PodNeeds, NodesHaveTheLabelsOfKubernetesAndKarpenter) {
  for (const char* label : {"node.kubernetes.io/instance-type: p5.48xlarge", "topology.kubernetes.io/zone: zone-a",
                            "karpenter.sh/capacity-type: on-demand", "karpenter.sh/nodepool: h100"}) {
    const ScenarioResult scenario =
        needs_with({std::string("service.node_selector={") + label + "}", "cluster.zones=[zone-a]"});
    EXPECT_TRUE(scenario.has_value()) << scenario.error().text();
  }
}

struct NeedsFault {
  const char* name;
  std::vector<std::string> sets;
  const char* text;  ///< part of the error
};

TEST(PodNeeds, PodsThatFitOnNoNodeAreRefusedWithThePlace) {
  const std::vector<NeedsFault> faults = {
      {"CPU of a service",
       {"service.cpu=200"},
       "service.cpu=200: a pod needs 200 CPUs and 64 GiB, but no node with 1 h100_sxm GPU has them, the most is 192 "
       "CPUs and 2048 GiB"},
      {"labels of a service",
       {"service.node_selector={tier: batch, disk: fast}"},
       "service.node_selector={tier: batch, disk: fast}: no node with 1 h100_sxm GPU has the labels disk=fast, "
       "tier=batch"},
      {"memory of a job",
       {"jobs.train.memory=4Ti"},
       "jobs.train.memory=4Ti: jobs.train: a pod needs 96 CPUs and 4096 GiB, but no node with 8 h100_sxm GPUs has "
       "them, the most is 192 CPUs and 2048 GiB"},
      {"all pods in one domain",
       {"jobs.train.gpus_per_pod=1", "jobs.train.pods=3"},
       "3 pods with 96 CPUs and 1024 GiB each must share one node, which has room for 2 of them"},
      {"no quantity",
       {"service.cpu=many"},
       "service.cpu: found \"many\", expected a quantity above 0 such as 8, 500m or 64Gi"},
      {"nothing", {"jobs.train.memory=0"}, "jobs.train.memory: found \"0\", expected a quantity above 0"},
      {"too much", {"service.memory=1Pi"}, "service.memory: found \"1Pi\", expected at most 900Ti"},
      {"a list of labels", {"cluster.existing.0.labels=[a]"}, "cluster.existing.labels is a list, expected a mapping"},
      {"a label without a value",
       {"service.node_selector={tier: [a]}"},
       "service.node_selector.tier: found a list, expected the value of a label"}};
  for (const NeedsFault& fault : faults) {
    const ScenarioResult scenario = needs_with(fault.sets);
    ASSERT_FALSE(scenario.has_value()) << fault.name;
    EXPECT_NE(scenario.error().text().find(fault.text), std::string::npos)
        << fault.name << ": " << scenario.error().text();
  }
}

}  // namespace
}  // namespace capstan::scenario
