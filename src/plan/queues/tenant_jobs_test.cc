#include "plan/queues/tenant_jobs.h"

#include <gtest/gtest.h>

#include "plan/sections/testing.h"

namespace capstan::plan {
namespace {

TenantJobs jobs_of(const std::string& name, std::int32_t pods, GpuCount gpus_per_pod) {
  TenantJobs jobs{.name = name};
  jobs.load.sizes = {{.pods = pods, .gpus_per_pod = gpus_per_pod}};
  return jobs;
}

TEST(TenantJobs, UseThePoolThatHasNodesForJobs) {
  testing::SamplePlan plan = testing::disaggregated_plan();
  plan.spec.tenants[1].jobs = {jobs_of("tune", 2, 8), jobs_of("evaluate", 4, 2)};
  const std::vector<GpuPool> pools = gpu_pools(plan.facts());
  const std::vector<PlacedJobs> placed = placed_jobs(plan.spec, pools);
  ASSERT_EQ(placed.size(), 2u);
  EXPECT_GT(placed[0].pool->reserved_for_jobs, 0);
  EXPECT_FALSE(placed[0].is_on_one_node);
  EXPECT_TRUE(placed[1].is_on_one_node);
  EXPECT_EQ(pool_of_jobs(plan.spec, pools), placed[0].pool->name);
  EXPECT_TRUE(unplaced_jobs(plan.spec, pools).empty());
}

TEST(TenantJobs, FillTheQuotaIfTheSpecStatesNoSize) {
  testing::SamplePlan plan = testing::disaggregated_plan();
  plan.spec.tenants[1].gpu_quota = 16;
  plan.spec.tenants[1].jobs = {jobs_of("tune", 0, 0)};
  const std::vector<GpuPool> pools = gpu_pools(plan.facts());
  const workload::JobSize size = placed_jobs(plan.spec, pools).at(0).size;
  EXPECT_EQ(size.pods, 2);
  EXPECT_EQ(size.gpus_per_pod, 8);
  plan.spec.tenants[1].gpu_quota = 4;
  EXPECT_EQ(placed_jobs(plan.spec, pools).at(0).size.gpus_per_pod, 4) << "a pod is no larger than the quota";
}

TEST(TenantJobs, WithoutNodesThatHoldAPodAreNamedAsNotSimulated) {
  testing::SamplePlan plan = testing::sliced_plan();
  plan.spec.tenants[0].jobs = {jobs_of("tune", 1, 8)};
  const std::vector<GpuPool> pools = gpu_pools(plan.facts());
  EXPECT_TRUE(placed_jobs(plan.spec, pools).empty()) << "machines of one GPU, and slices";
  EXPECT_EQ(
      unplaced_jobs(plan.spec, pools),
      std::vector<std::string>{"the jobs tune of production, because no pool of the plan has nodes with at least 8 "
                               "whole GPUs"});
  EXPECT_EQ(pool_of_jobs(plan.spec, pools), "");
}

}  // namespace
}  // namespace capstan::plan
