#include "plan/queues/queues.h"

#include <gtest/gtest.h>

#include "plan/sections/testing.h"

namespace capstan::plan {
namespace {

/// The queues of a sample plan, with what they refer to.
struct SampleQueues {
  explicit SampleQueues(testing::SamplePlan sample) : plan(std::move(sample)) {}

  testing::SamplePlan plan;
  std::vector<GpuPool> pools = gpu_pools(plan.facts());
  std::vector<TenantShare> shares = tenant_shares(plan.facts(), pools);
  QueueInput input{.spec = plan.spec, .pools = pools, .shares = shares};
};

const Yaml& object_of(const std::vector<Manifest>& manifests, std::string_view kind, std::string_view name) {
  for (const Manifest& manifest : manifests) {
    if (manifest.body.find("kind")->text() == kind && manifest.body.find("metadata")->find("name")->text() == name)
      return *manifest.body.find("spec");
  }
  ADD_FAILURE() << kind << " " << name;
  return manifests.front().body;
}

TEST(PlanQueues, KaiHasOneQueueBelowThatOfTheCluster) {
  const SampleQueues sample(testing::gang_plan());
  const std::vector<Manifest> made = kai_queues(sample.input);
  const Yaml& root = object_of(made, "Queue", "large-models");
  EXPECT_EQ(root.find("parentQueue"), nullptr);
  EXPECT_EQ(root.find("resources")->find("gpu")->find("quota")->text(), "64");
  const Yaml& training = object_of(made, "Queue", "training");
  EXPECT_EQ(training.find("parentQueue")->text(), "large-models");
  EXPECT_EQ(training.find("resources")->find("gpu")->find("quota")->text(), "16");
  EXPECT_EQ(training.find("resources")->find("gpu")->find("limit")->text(), "-1");  // a limit left out would be 0
  EXPECT_EQ(training.find("resources")->find("cpu")->find("limit")->text(), "-1");
  EXPECT_EQ(object_of(made, "Topology", "large-models").find("levels")->elements().size(), 3U);
}

TEST(PlanQueues, KaiDoesNotBoundSlicesWithoutAStatedQuota) {
  const SampleQueues sample(testing::sliced_plan());
  const std::vector<Manifest> made = kai_queues(sample.input);
  for (const char* name : {"small-models", "production"}) {
    EXPECT_EQ(object_of(made, "Queue", name).find("resources")->find("gpu")->find("quota")->text(), "-1") << name;
  }
}

TEST(PlanQueues, KueueCoversEveryResourceOfAPodInEveryFlavor) {
  const SampleQueues sample(testing::sliced_plan());
  const std::vector<Manifest> made = kueue_queues(sample.input);
  const Yaml& group = object_of(made, "ClusterQueue", "production").find("resourceGroups")->elements().front();
  std::vector<std::string> covered;
  for (const Yaml& name : group.find("coveredResources")->elements()) covered.push_back(name.text());
  EXPECT_EQ(covered, (std::vector<std::string>{"cpu", "memory", "nvidia.com/gpu", "nvidia.com/mig-3g.40gb",
                                               "nvidia.com/mig-1g.10gb"}));
  for (const Yaml& flavor : group.find("flavors")->elements()) {
    std::vector<std::string> names;
    for (const Yaml& resource : flavor.find("resources")->elements()) names.push_back(resource.find("name")->text());
    EXPECT_EQ(names, covered);
  }
  EXPECT_EQ(object_of(made, "LocalQueue", "production").find("clusterQueue")->text(), "production");
}

TEST(PlanQueues, ALimitBoundsWhatATenantBorrows) {
  const SampleQueues sample(testing::disaggregated_plan());
  const std::vector<Manifest> made = kueue_queues(sample.input);
  const Yaml& training = object_of(made, "ClusterQueue", "training");
  const Yaml& h200 = training.find("resourceGroups")->elements().front().find("flavors")->elements()[1];
  const Yaml& gpus = h200.find("resources")->elements()[2];
  EXPECT_EQ(gpus.find("nominalQuota")->text(), "8");
  EXPECT_EQ(gpus.find("borrowingLimit")->text(), "8");
  EXPECT_EQ(training.find("preemption")->find("reclaimWithinCohort")->text(), "LowerPriority");
}

TEST(PlanQueues, CapstanLimitsJobsToWhatProductionLeaves) {
  const SampleQueues sample(testing::gang_plan());  // 64 GPUs, of which production may need 48
  const std::vector<Manifest> made = capstan_queues(sample.input);
  EXPECT_EQ(object_of(made, "Queue", "training").find("gpus")->find("limit")->text(), "16");
  EXPECT_EQ(object_of(made, "Queue", "production").find("gpus"), nullptr);
  const std::vector<Manifest> policies = {fleet_policy(sample.input)};
  const Yaml& policy = object_of(policies, "FleetPolicy", "default");
  EXPECT_EQ(policy.find("limits")->find("gpus")->text(), "64");
  EXPECT_EQ(policy.find("limits")->find("usdPerHour")->text(), "400.5");
  EXPECT_EQ(policy.find("placement")->find("shadowOf")->elements().front().text(), "kai-scheduler");
}

TEST(PlanQueues, OnlyProductionPreempts) {
  const std::vector<Manifest> made = priority_classes(testing::gang_plan().spec);
  ASSERT_EQ(made.size(), 2U);
  EXPECT_EQ(made[0].body.find("value")->text(), "100");
  EXPECT_EQ(made[0].body.find("preemptionPolicy")->text(), "PreemptLowerPriority");
  EXPECT_EQ(made[1].body.find("preemptionPolicy")->text(), "Never");
}

TEST(PlanQueues, TheTopologyHasOnlyLabelsThatEveryNodeHas) {
  using Levels = std::vector<std::string>;
  const std::string zone = "topology.kubernetes.io/zone", host = "kubernetes.io/hostname";
  testing::SamplePlan plan = testing::gang_plan();
  std::vector<GpuPool> pools = gpu_pools(plan.facts());
  EXPECT_EQ(topology_levels(plan.spec, pools), (Levels{zone, "topology.k8s.aws/network-node-layer-3", host}));
  pools[0].machines.push_back({.name = "g6e.xlarge", .gpus = 1});
  EXPECT_EQ(topology_levels(plan.spec, pools), (Levels{zone, host}));
  pools[0].machines = {{.name = "p6e-gb200.36xlarge", .gpus = 4, .nvlink_domain_gpus = 72}};
  EXPECT_EQ(topology_levels(plan.spec, pools),
            (Levels{zone, "topology.k8s.aws/network-node-layer-3", "nvidia.com/gpu.clique", host}));
  plan.spec.cluster.cloud = Cloud::azure;
  EXPECT_EQ(topology_levels(plan.spec, pools), (Levels{zone, "nvidia.com/gpu.clique", host}));
}

}  // namespace
}  // namespace capstan::plan
