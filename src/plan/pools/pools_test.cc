#include "plan/pools/pools.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

PlanSpec pools_spec() {
  PlanSpec spec;
  spec.tenants = {{.name = "serving"}};
  return spec;
}

void add_service(PlanSpec& spec, std::vector<ServicePlan>& plans, const char* name, RoleFleet role) {
  spec.services.push_back({.name = name, .tenant = "serving"});
  plans.push_back({.service = name, .roles = {std::move(role)}});
}

RoleFleet fleet(const char* gpu, std::int64_t tp, GpuCount gpus_per_node, ReplicaCount minimum, ReplicaCount maximum) {
  RoleFleet role;
  role.engine.gpu = gpu;
  role.engine.tp = tp;
  role.machine = {.name = "machine-of-" + std::to_string(gpus_per_node), .gpu = gpu, .gpus = gpus_per_node};
  role.minimum = minimum;
  role.maximum = maximum;
  return role;
}

TEST(PlanPools, NodesHoldTheReplicasOfAllServicesOfTheirGpu) {
  PlanSpec spec = pools_spec();
  std::vector<ServicePlan> plans;
  add_service(spec, plans, "chat", fleet("h100_sxm", 4, 8, 3, 8));
  add_service(spec, plans, "code", fleet("h100_sxm", 2, 8, 1, 2));
  add_service(spec, plans, "mail", fleet("l4", 1, 1, 2, 5));
  const std::vector<GpuPool> pools = gpu_pools({spec, plans});
  ASSERT_EQ(pools.size(), 2U);
  EXPECT_EQ(pools[0].name, "h100");
  EXPECT_EQ(pools[0].base_nodes, 2);  // 3 x 4 + 1 x 2 = 14 GPUs
  EXPECT_EQ(pools[0].max_nodes, 5);   // 8 x 4 + 2 x 2 = 36 GPUs
  EXPECT_EQ(pools[0].arithmetic, "chat: 8 replicas x 4 GPUs, code: 2 replicas x 2 GPUs");
  EXPECT_EQ(pools[1].name, "l4");
  EXPECT_EQ(pools[1].max_nodes, 5);
}

TEST(PlanPools, APodThatLeavesARestBlocksIt) {
  PlanSpec spec = pools_spec();
  std::vector<ServicePlan> plans;
  add_service(spec, plans, "chat", fleet("h100_sxm", 3, 8, 1, 4));
  EXPECT_EQ(gpu_pools({spec, plans})[0].max_nodes, 2);  // two pods of 3 GPUs fit on a node of 8
}

TEST(PlanPools, SpotIsAShareOfTheNodesAboveTheMinimum) {
  PlanSpec spec = pools_spec();
  std::vector<ServicePlan> plans;
  add_service(spec, plans, "chat", fleet("h100_sxm", 8, 8, 2, 7));
  plans[0].spot_ppm = 500'000;
  const GpuPool pool = gpu_pools({spec, plans})[0];
  EXPECT_EQ(pool.base_nodes, 2);
  EXPECT_EQ(pool.max_nodes, 7);
  EXPECT_EQ(pool.spot_nodes, 2);  // half of 5, and the base takes the rest
}

TEST(PlanPools, HalfOfTheBaseMayBeSpot) {
  PlanSpec spec = pools_spec();
  std::vector<ServicePlan> plans;
  add_service(spec, plans, "chat", fleet("h100_sxm", 8, 8, 3, 7));
  plans[0].spot_ppm = 1'000'000;
  plans[0].roles[0].spot_base_ppm = 500'000;
  add_service(spec, plans, "code", fleet("h100_sxm", 8, 8, 1, 1));
  name_pools(plans);
  const std::vector<GpuPool> pools = gpu_pools({spec, plans});
  ASSERT_EQ(pools.size(), 2U) << "the base of the other service stays on-demand";
  EXPECT_EQ(pools[0].name, "h100-half-spot");
  EXPECT_EQ(pools[0].base_nodes, 3);
  EXPECT_EQ(pools[0].spot_base_nodes, 1);
  EXPECT_EQ(pools[0].minimum_nodes(false), 2);
  EXPECT_EQ(pools[0].minimum_nodes(true), 1);
  EXPECT_EQ(pools[0].spot_nodes, 5) << "and the 4 nodes above the minimum";
  EXPECT_EQ(pools[1].spot_base_nodes, 0);
  spec.limits.gpus = 4 * 8;
  EXPECT_EQ(gpu_pools({spec, plans})[0].limit_nodes(), 2) << "a limit lowers the spot nodes, not the base";
}

TEST(PlanPools, SlicesHaveAPoolOfTheirOwn) {
  PlanSpec spec = pools_spec();
  std::vector<ServicePlan> plans;
  add_service(spec, plans, "chat", fleet("h100_sxm", 4, 8, 1, 2));
  add_service(spec, plans, "mail", fleet("h100-3g.40gb", 1, 16, 3, 20));
  const std::vector<GpuPool> pools = gpu_pools({spec, plans});
  ASSERT_EQ(pools.size(), 2U);
  EXPECT_EQ(pools[1].name, "h100-3g-40gb");
  EXPECT_EQ(pools[1].max_nodes, 2);  // 20 slices, 16 on a node
  EXPECT_EQ(pools[1].whole_gpus_per_node(), 8);
  EXPECT_EQ(slices_per_gpu("h100-3g.40gb"), 2);
  EXPECT_EQ(slices_per_gpu("h100_sxm"), 1);
}

TEST(PlanPools, JobsOfOtherTenantsNeedNodesToo) {
  PlanSpec spec = pools_spec();
  spec.tenants.push_back({.name = "training", .kind = TenantSpec::Kind::training, .gpu_quota = 12});
  std::vector<ServicePlan> plans;
  add_service(spec, plans, "chat", fleet("h100_sxm", 4, 8, 1, 2));
  const GpuPool pool = gpu_pools({spec, plans})[0];
  EXPECT_EQ(pool.max_nodes, 3);
  EXPECT_EQ(pool.arithmetic,
            "chat: 2 replicas x 4 GPUs, and 12 GPUs for the jobs of other tenants in the largest pool");
}

TEST(PlanPools, AllPoolsTogetherKeepTheLimitOfTheSpec) {
  PlanSpec spec = pools_spec();
  spec.limits.gpus = 20;
  std::vector<ServicePlan> plans;
  add_service(spec, plans, "chat", fleet("h100_sxm", 4, 8, 1, 8));
  const GpuPool pool = gpu_pools({spec, plans})[0];
  EXPECT_EQ(pool.max_nodes, 2);
  EXPECT_EQ(pool.arithmetic, "chat: 8 replicas x 4 GPUs; the spec limits all pools together to 20 GPUs");
}

TEST(PlanPools, AllPoolsTogetherKeepThePriceLimitOfTheSpec) {
  PlanSpec spec = pools_spec();
  spec.cluster.zones = {"a", "b"};
  std::vector<ServicePlan> plans;
  RoleFleet role = fleet("h100_sxm", 8, 8, 1, 4);
  role.machine.on_demand_per_hour = MicroUsd{40'000'000};
  add_service(spec, plans, "chat", role);
  EXPECT_EQ(gpu_pools({spec, plans})[0].limit_nodes(), 5) << "four, and one in place of a lost zone";
  spec.limits.per_hour = MicroUsd{170'000'000};
  EXPECT_EQ(gpu_pools({spec, plans})[0].limit_nodes(), 4);
  spec.limits.per_hour = MicroUsd{90'000'000};
  const GpuPool pool = gpu_pools({spec, plans})[0];
  EXPECT_EQ(pool.limit_nodes(), 2);
  EXPECT_EQ(pool.arithmetic, "chat: 4 replicas x 8 GPUs; the spec limits all pools together to 90.00 USD/h");
}

TEST(PlanPools, MachineTypesOfOneGpuKindHavePoolsOfTheirOwn) {
  PlanSpec spec = pools_spec();
  std::vector<ServicePlan> plans;
  add_service(spec, plans, "chat", fleet("h100_sxm", 4, 8, 1, 2));
  add_service(spec, plans, "code", fleet("h100_sxm", 1, 1, 2, 3));
  add_service(spec, plans, "mail", fleet("l4", 1, 1, 1, 1));
  name_pools(plans);
  const std::vector<GpuPool> pools = gpu_pools({spec, plans});
  ASSERT_EQ(pools.size(), 3U);
  EXPECT_EQ(pools[0].name, "h100-machine-of-8");
  EXPECT_EQ(pools[0].max_nodes, 1);
  EXPECT_EQ(pools[1].name, "h100-machine-of-1");
  EXPECT_EQ(pools[1].max_nodes, 3);
  EXPECT_EQ(pools[2].name, "l4");
}

TEST(PlanPools, TheLimitCountsSlicesAsPartsOfGpus) {
  PlanSpec spec = pools_spec();
  spec.limits.gpus = 16;
  std::vector<ServicePlan> plans;
  add_service(spec, plans, "mail", fleet("h100-3g.40gb", 1, 16, 3, 40));
  EXPECT_EQ(gpu_pools({spec, plans})[0].max_nodes, 2);  // two nodes of 8 GPUs, 16 slices each
}

}  // namespace
}  // namespace capstan::plan
