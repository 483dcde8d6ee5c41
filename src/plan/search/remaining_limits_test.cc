#include "plan/search/remaining_limits.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

constexpr MicroUsd kNodePrice{40'000'000};

PlanSpec limited_spec() {
  PlanSpec spec;
  spec.tenants = {{.name = "serving"}};
  spec.services = {{.name = "chat", .tenant = "serving"}, {.name = "code", .tenant = "serving"}};
  return spec;
}

ServicePlan plan_of_chat(ReplicaCount maximum) {
  RoleFleet role;
  role.engine.gpu = "h100_sxm";
  role.engine.tp = 4;
  role.machine = {.name = "p5.48xlarge", .gpu = "h100_sxm", .gpus = 8, .on_demand_per_hour = kNodePrice};
  role.maximum = maximum;
  return {.service = "chat", .roles = {role}};
}

const std::vector<PeakNeed> kNeeds = {{.node_gpus = 16, .per_hour = kNodePrice * 2, .pod_gpus = 16},
                                      {.node_gpus = 8, .per_hour = kNodePrice, .pod_gpus = 8}};

TEST(RemainingLimits, AreNoneWithoutALimit) {
  const RemainingLimits limits = remaining_limits(limited_spec(), {}, kNeeds);
  EXPECT_FALSE(limits.gpus || limits.per_hour || limits.tenant_gpus);
  EXPECT_EQ(limits.words(), "no limit");
}

TEST(RemainingLimits, LeaveTheLaterServicesTheirNeed) {
  PlanSpec spec = limited_spec();
  spec.limits = {.gpus = 64, .per_hour = kNodePrice * 8};
  const RemainingLimits limits = remaining_limits(spec, {}, kNeeds);
  EXPECT_EQ(limits.gpus, 56);
  EXPECT_EQ(limits.per_hour, kNodePrice * 7);
  EXPECT_EQ(
      limits.gpus_words,
      "limits.gpus: 56 of 64 GPUs are left for chat by other services and by quotas of tenants without a service");
}

TEST(RemainingLimits, AreDividedByNeedIfTheyAreTooSmall) {
  PlanSpec spec = limited_spec();
  spec.limits = {.gpus = 12};
  EXPECT_EQ(remaining_limits(spec, {}, kNeeds).gpus, 8);  // 12 x 16 / 24
}

TEST(RemainingLimits, BoundTheSumOfTheServices) {
  PlanSpec spec = limited_spec();
  spec.limits = {.gpus = 32, .per_hour = kNodePrice * 3};
  const RemainingLimits limits = remaining_limits(spec, {plan_of_chat(5)}, kNeeds);
  EXPECT_EQ(limits.gpus, 8);                // 32 - 3 nodes of 8 for 5 replicas of 4 GPUs
  EXPECT_EQ(limits.per_hour, MicroUsd{0});  // 3 nodes cost it all
}

TEST(RemainingLimits, ReserveTheQuotaOfTenantsWithoutAService) {
  PlanSpec spec = limited_spec();
  spec.tenants.push_back({.name = "training", .gpu_quota = 16});
  spec.limits = {.gpus = 64};
  EXPECT_EQ(remaining_limits(spec, {plan_of_chat(4)}, kNeeds).gpus, 32);  // 64 - 16 - 16
}

TEST(RemainingLimits, BoundThePodsOfATenant) {
  PlanSpec spec = limited_spec();
  spec.tenants[0].gpu_limit = 24;
  const RemainingLimits limits = remaining_limits(spec, {plan_of_chat(4)}, kNeeds);
  EXPECT_EQ(limits.tenant_gpus, 8);
  EXPECT_EQ(
      limits.tenant_words,
      "tenants.serving.gpu_limit: 8 of 24 GPUs are left for code by other services and by quotas of tenants without "
      "a service");
  EXPECT_EQ(limits.words(), limits.tenant_words);
}

TEST(WholeGpus, CountSlicesAsParts) {
  EXPECT_EQ(whole_gpus_of({.gpu = "h100-3g.40gb", .gpus = 16}), 8);
  EXPECT_EQ(whole_gpus_of({.gpu = "h100_sxm", .gpus = 8}), 8);
}

}  // namespace
}  // namespace capstan::plan
