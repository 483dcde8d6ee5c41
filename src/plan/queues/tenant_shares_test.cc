#include "plan/queues/tenant_shares.h"

#include <gtest/gtest.h>

#include "plan/sections/testing.h"

namespace capstan::plan {
namespace {

std::vector<TenantShare> shares_of(const testing::SamplePlan& plan) {
  return tenant_shares(plan.facts(), gpu_pools(plan.facts()));
}

TEST(PlanTenantShares, AStatedQuotaIsDividedByWhatTheServicesNeed) {
  const testing::SamplePlan plan = testing::disaggregated_plan();
  const std::vector<TenantShare> shares = shares_of(plan);
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_EQ(shares[0].quota, 32);
  EXPECT_EQ(shares[0].maximum, 40);         // 4 prefill and 6 decode replicas of 4 GPUs
  EXPECT_EQ(shares[0].pools[0].quota, 16);  // all prefill replicas
  EXPECT_EQ(shares[0].pools[1].quota, 16);  // and 4 of 6 decode replicas
  EXPECT_EQ(shares[1].pools[1].quota, 8);   // jobs, in the largest pool
  EXPECT_EQ(shares[1].limit, 16);
}

TEST(PlanTenantShares, WithoutAStatedQuotaATenantHasWhatItsServicesNeed) {
  testing::SamplePlan plan = testing::gang_plan();
  plan.spec.tenants[1].gpu_quota = 0;
  const std::vector<TenantShare> shares = shares_of(plan);
  EXPECT_EQ(shares[0].quota, 48);  // 3 replicas of 2 pods of 8 GPUs
  EXPECT_TRUE(shares[0].is_derived);
  EXPECT_EQ(shares[1].quota, 0);
}

TEST(PlanTenantShares, SlicesAreCountedAsTheGpusThatHoldThem) {
  const testing::SamplePlan plan = testing::sliced_plan();
  const TenantShare share = shares_of(plan).front();
  EXPECT_EQ(share.maximum, 6 + 10 + 5);  // 6 GPUs, 20 slices with 2 on a GPU, 30 slices with 7 on a GPU
  EXPECT_EQ(share.pools[1].quota, 20);   // in slices
  EXPECT_TRUE(share.has_slices);
}

TEST(PlanTenantShares, ServicesOfOnePoolShareItsGpus) {
  testing::SamplePlan plan = testing::sample_plan("small");
  const MachineSpec machine = testing::sample_machine("p5.48xlarge", "h100-3g.40gb", 16);
  for (const char* name : {"mail", "tags"})
    testing::add_sample_service(plan, name, {testing::sample_role(machine, 1, 1, 3)});
  EXPECT_EQ(shares_of(plan).front().maximum, 3);  // 3 + 3 slices, 2 on a GPU
}

TEST(PlanTenantShares, TheFleetIsWhatTheSpecLimitsItTo) {
  testing::SamplePlan plan = testing::chat_plan();
  EXPECT_EQ(fleet_gpus(plan.spec, gpu_pools(plan.facts())), 48);
  plan.spec.limits.gpus = 40;
  EXPECT_EQ(fleet_gpus(plan.spec, gpu_pools(plan.facts())), 40);
}

}  // namespace
}  // namespace capstan::plan
