#include "plan/pools/pool_sharing.h"

#include <gtest/gtest.h>

#include "plan/sections/testing.h"

namespace capstan::plan {
namespace {

/// Returns a plan of batch work and a second service on the same machines.
testing::SamplePlan two_on_one_pool(std::int64_t second_memory_gib) {
  testing::SamplePlan plan = testing::batch_plan();
  RoleFleet role = plan.services[0].roles[0];
  ServiceSpec& second = testing::add_sample_service(plan, "mail", {role});
  second.may_share_gpu = second_memory_gib > 0;
  second.sharing_memory_gib = second_memory_gib;
  return plan;
}

TEST(PoolSharing, BatchWorkDividesTheGpusOfItsPool) {
  EXPECT_EQ(mps_shares(testing::batch_plan().facts(), "l40s"), 2);  // 48 GiB / 20 GiB
  EXPECT_EQ(mps_shares(testing::batch_plan().facts(), "h100"), 1);
}

TEST(PoolSharing, TheLargestWorkloadDecides) {
  EXPECT_EQ(mps_shares(two_on_one_pool(10).facts(), "l40s"), 2) << "48 GiB / 10 GiB = 4, but the other one needs 20";
  EXPECT_EQ(mps_shares(two_on_one_pool(24).facts(), "l40s"), 2);
}

TEST(PoolSharing, OneWorkloadWithWholeGpusKeepsThePoolWhole) {
  EXPECT_EQ(mps_shares(two_on_one_pool(0).facts(), "l40s"), 1);
}

TEST(PoolSharing, AnEngineThatCannotBoundItsMemoryHasWholeGpus) {
  testing::SamplePlan plan = testing::batch_plan();
  plan.spec.services[0].engine = Engine::triton;
  EXPECT_EQ(mps_shares(plan.facts(), "l40s"), 1);
}

TEST(PoolSharing, JobsNeedWholeGpus) {
  testing::SamplePlan plan = testing::batch_plan();
  plan.spec.tenants.push_back({.name = "training", .kind = TenantSpec::Kind::training, .gpu_quota = 8});
  EXPECT_EQ(mps_shares(plan.facts(), "l40s"), 1);
}

}  // namespace
}  // namespace capstan::plan
