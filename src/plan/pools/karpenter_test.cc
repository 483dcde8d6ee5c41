#include "plan/pools/karpenter.h"

#include <gtest/gtest.h>

#include "plan/sections/testing.h"

namespace capstan::plan {
namespace {

using Types = std::vector<std::string>;

std::vector<Manifest> pools_of(const testing::SamplePlan& plan) {
  return node_pools(plan.spec, gpu_pools(plan.facts()).front());
}

const Yaml& requirement_values(const Manifest& pool, std::string_view key) {
  for (const Yaml& entry : pool.body.find("spec")->find("template")->find("spec")->find("requirements")->elements()) {
    if (entry.find("key")->text() == key) return *entry.find("values");
  }
  ADD_FAILURE() << key;
  return pool.body;
}

Types texts(const Yaml& list) {
  Types out;
  for (const Yaml& element : list.elements()) out.push_back(element.text());
  return out;
}

TEST(PlanKarpenter, TheBaseIsOnDemandAndTheBurstIsSpotWithLowerWeight) {
  const std::vector<Manifest> pools = pools_of(testing::chat_plan());
  ASSERT_EQ(pools.size(), 2U);
  EXPECT_EQ(pools[0].file, "nodes/h100.yaml");
  EXPECT_EQ(pools[1].file, "nodes/h100-spot.yaml");
  EXPECT_EQ(texts(requirement_values(pools[0], "karpenter.sh/capacity-type")), Types{"on-demand"});
  EXPECT_EQ(texts(requirement_values(pools[1], "karpenter.sh/capacity-type")), (Types{"spot", "on-demand"}));
  const auto weight = [](const Manifest& pool) { return std::stoi(pool.body.find("spec")->find("weight")->text()); };
  EXPECT_GT(weight(pools[0]), weight(pools[1]));
  // 12 replicas of 4 GPUs are 6 nodes: 2 for the minimum, and half of the other 4 as spot.
  const auto limit = [](const Manifest& pool) {
    return pool.body.find("spec")->find("limits")->find("nvidia.com/gpu")->text();
  };
  EXPECT_EQ(limit(pools[0]), "40");
  EXPECT_EQ(limit(pools[1]), "16");
}

TEST(PlanKarpenter, BothPoolsGiveTheirNodesOneLabel) {
  for (const Manifest& pool : pools_of(testing::chat_plan())) {
    const Yaml& made = *pool.body.find("spec")->find("template");
    EXPECT_EQ(made.find("metadata")->find("labels")->find("capstan.dev/pool")->text(), "h100");
    EXPECT_EQ(made.find("spec")->find("nodeClassRef")->find("name")->text(), "h100");
  }
}

TEST(PlanKarpenter, WithoutSpotThereIsOnePoolWithoutAWeight) {
  const std::vector<Manifest> pools = pools_of(testing::azure_plan());
  ASSERT_EQ(pools.size(), 1U);
  EXPECT_EQ(pools[0].body.find("spec")->find("weight"), nullptr);
  EXPECT_EQ(pools[0].body.find("spec")->find("template")->find("spec")->find("nodeClassRef")->find("kind")->text(),
            "AKSNodeClass");
}

TEST(PlanKarpenter, TheBasePrefersReservedNodesAndIsSpotOnlyIfNothingElseIsBought) {
  using model::CapacityType;
  struct Row {
    std::vector<CapacityType> bought;
    CapacityType base;
    Types types;
  };
  constexpr auto kOnDemand = CapacityType::on_demand, kSpot = CapacityType::spot;
  for (const Row& row : {Row{{kOnDemand, kSpot}, kOnDemand, {"on-demand"}},
                         Row{{kOnDemand, CapacityType::reserved}, kOnDemand, {"reserved", "on-demand"}},
                         Row{{kOnDemand, kSpot}, kSpot, {"spot", "on-demand"}}, Row{{kSpot}, kSpot, {"spot"}}}) {
    EXPECT_EQ(base_capacity({.capacity = row.bought}, {.base = row.base}), row.types);
  }
}

TEST(PlanKarpenter, NodesHaveTheLabelOfANodePoolOfKai) {
  testing::SamplePlan plan = testing::chat_plan();
  const auto label = [&] {
    const Manifest pool = pools_of(plan).front();
    const Yaml* found =
        pool.body.find("spec")->find("template")->find("metadata")->find("labels")->find("kai.scheduler/node-pool");
    return found == nullptr ? std::string("none") : std::string(found->text());
  };
  plan.spec.cluster.gang_scheduler = GangScheduler::kai;
  EXPECT_EQ(label(), "none") << "KAI's default scheduler would not see such a node";
  plan.spec.cluster.kai_node_pool = "gpu";
  EXPECT_EQ(label(), "gpu");
  plan.spec.cluster.gang_scheduler = GangScheduler::kueue;
  EXPECT_EQ(label(), "none");
}

TEST(PlanKarpenter, NodesWhosePodsShareGpusHaveTheLabelOfTheDevicePlugin) {
  testing::SamplePlan plan = testing::batch_plan();
  plan.spec.cluster.provisioner = Provisioner::karpenter;
  const GpuPool pool = gpu_pools(plan.facts()).front();
  ASSERT_EQ(pool.mps_shares, 2);
  const Manifest base = node_pools(plan.spec, pool).front();
  const Yaml& labels = *base.body.find("spec")->find("template")->find("metadata")->find("labels");
  EXPECT_EQ(labels.find("nvidia.com/device-plugin.config")->text(), "l40s-mps");
  EXPECT_EQ(base.body.find("spec")->find("limits")->find("nvidia.com/gpu")->text(), "16")
      << "1 node and 1 while a zone is lost, 4 GPUs each, 2 shares";
  const std::vector<Manifest> overlays = node_overlays(plan.spec, pool);
  ASSERT_EQ(overlays.size(), 1U);
  EXPECT_EQ(overlays[0].body.find("spec")->find("capacity")->find("nvidia.com/gpu")->text(), "8");
}

TEST(PlanKarpenter, NodesOfSlicesHaveTheirGeometryAndAnOverlay) {
  const testing::SamplePlan plan = testing::sliced_plan();
  const std::vector<GpuPool> pools = gpu_pools(plan.facts());
  EXPECT_TRUE(node_overlays(plan.spec, pools[0]).empty());  // whole GPUs
  const std::vector<Manifest> overlays = node_overlays(plan.spec, pools[1]);
  ASSERT_EQ(overlays.size(), 1U);
  EXPECT_EQ(overlays[0].body.find("spec")->find("capacity")->find("nvidia.com/mig-3g.40gb")->text(), "16");
  const Manifest pool = node_pools(plan.spec, pools[1]).front();
  EXPECT_EQ(pool.body.find("spec")->find("limits")->find("nvidia.com/gpu")->text(), "24")
      << "2 nodes with 8 GPUs each, and 1 while a zone is lost";
  EXPECT_EQ(
      pool.body.find("spec")->find("template")->find("metadata")->find("labels")->find("nvidia.com/mig.config")->text(),
      "h100-3g-40gb");
}

}  // namespace
}  // namespace capstan::plan
