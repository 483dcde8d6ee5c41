#include "plan/feasibility/remaining_limits.h"

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

MachineSpec machine_named(const std::string& name) {
  return {.name = name, .gpu = "h100_sxm", .gpus = 8, .on_demand_per_hour = kNodePrice};
}

/// Chat needs two machines of p5.48xlarge, code needs one of another type.
const std::vector<PeakNeed> kNeeds = {
    {.machine = machine_named("p5.48xlarge"), .per_hour = kNodePrice, .gpus = 16, .pod_gpus = 16},
    {.machine = machine_named("p5en.48xlarge"), .per_hour = kNodePrice, .gpus = 8, .pod_gpus = 8}};

/// Returns the GPUs that each limit leaves on a machine type for a service that needs 16 GPUs at its peak.
std::vector<GpuCount> gpus_left(const RemainingLimits& limits, const std::string& machine = "p5.48xlarge") {
  std::vector<GpuCount> gpus;
  for (const LimitedGpus& limit : limits.for_machine(machine_named(machine), kNodePrice, 16))
    gpus.push_back(limit.gpus);
  return gpus;
}

TEST(RemainingLimits, AreNoneWithoutALimit) {
  const RemainingLimits limits = remaining_limits(limited_spec(), {}, kNeeds);
  EXPECT_TRUE(gpus_left(limits).empty());
  EXPECT_FALSE(limits.tenant_gpus);
}

TEST(RemainingLimits, LeaveTheLaterServicesTheirNeed) {
  PlanSpec spec = limited_spec();
  spec.limits = {.gpus = 64, .per_hour = kNodePrice * 8};
  const RemainingLimits limits = remaining_limits(spec, {}, kNeeds);
  EXPECT_EQ(gpus_left(limits), (std::vector<GpuCount>{56, 56}));
  EXPECT_EQ(limits.for_machine(machine_named("p5.48xlarge"), kNodePrice, 16).front().words,
            "limits.gpus: 56 of 64 GPUs are for chat; other services and the quotas of tenants without a service take "
            "the rest");
}

TEST(RemainingLimits, AreDividedByNeedIfTheyAreTooSmall) {
  PlanSpec spec = limited_spec();
  spec.limits = {.gpus = 12};
  EXPECT_EQ(gpus_left(remaining_limits(spec, {}, kNeeds)), std::vector<GpuCount>{8});  // 12 x 16 / 24
}

TEST(RemainingLimits, BoundTheSumOfTheServices) {
  PlanSpec spec = limited_spec();
  spec.limits = {.gpus = 32, .per_hour = kNodePrice * 3};
  const RemainingLimits limits = remaining_limits(spec, {plan_of_chat(5)}, kNeeds);
  // Chat has 5 replicas of 4 GPUs, which take 3 nodes of 8 GPUs. Of the limits, 8 GPUs and no money are left.
  EXPECT_EQ(gpus_left(limits, "p5en.48xlarge"), (std::vector<GpuCount>{8, 0}));
}

TEST(RemainingLimits, CountSharedNodesOnce) {
  PlanSpec spec = limited_spec();
  spec.limits = {.gpus = 8, .per_hour = kNodePrice};
  const std::vector<PeakNeed> needs = {
      {.machine = machine_named("p5.48xlarge"), .per_hour = kNodePrice, .gpus = 3, .pod_gpus = 3},
      {.machine = machine_named("p5.48xlarge"), .per_hour = kNodePrice, .gpus = 2, .pod_gpus = 2}};
  const auto first = remaining_limits(spec, {}, needs).for_machine(machine_named("p5.48xlarge"), kNodePrice, 3);
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0].gpus, 6);  // 8 GPUs of the node, less 2 for the later service
  EXPECT_EQ(first[1].gpus, 6);
  EXPECT_EQ(first[1].words,
            "limits.usd_per_hour: 40.00 USD/h pays for 1 node of p5.48xlarge, on which other services leave 6 GPUs for "
            "chat");
  // The first service has 4 GPUs of the node, so the second has the other 4.
  const auto second =
      remaining_limits(spec, {plan_of_chat(1)}, needs).for_machine(machine_named("p5.48xlarge"), kNodePrice, 2);
  EXPECT_EQ(second.at(0).gpus, 4);
  EXPECT_EQ(second.at(1).gpus, 4);
}

TEST(RemainingLimits, ReserveTheQuotaOfTenantsWithoutAService) {
  PlanSpec spec = limited_spec();
  spec.tenants.push_back({.name = "training", .gpu_quota = 16});
  spec.limits = {.gpus = 64};
  const RemainingLimits limits = remaining_limits(spec, {plan_of_chat(4)}, kNeeds);
  EXPECT_EQ(gpus_left(limits, "p5en.48xlarge"), std::vector<GpuCount>{32});  // 64 - 16 - 16
}

TEST(RemainingLimits, BoundThePodsOfATenant) {
  PlanSpec spec = limited_spec();
  spec.tenants[0].gpu_limit = 24;
  const RemainingLimits limits = remaining_limits(spec, {plan_of_chat(4)}, kNeeds);
  EXPECT_EQ(limits.tenant_gpus, 8);
  EXPECT_EQ(limits.tenant_words,
            "tenants.serving.gpu_limit: 8 of 24 GPUs are for code; other services and the quotas of tenants without "
            "a service take the rest");
}

TEST(WholeGpus, CountSlicesAsParts) {
  EXPECT_EQ(whole_gpus_of({.gpu = "h100-3g.40gb", .gpus = 16}), 8);
  EXPECT_EQ(whole_gpus_of({.gpu = "h100_sxm", .gpus = 8}), 8);
}

}  // namespace
}  // namespace capstan::plan
