#include "plan/feasibility/machine_bound.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

/// Returns a spec with machines of eight GPUs for 55.04 USD/h that may be bought on demand.
PlanSpec bound_spec(std::int64_t existing) {
  PlanSpec spec;
  spec.cluster.capacity = {model::CapacityType::on_demand};
  spec.cluster.machines = {{.name = "p5.48xlarge",
                            .gpu = "h100_sxm",
                            .gpus = 8,
                            .on_demand_per_hour = MicroUsd{55'040'000},
                            .existing = existing}};
  return spec;
}

TEST(MachineBound, WithoutLimitsThereIsNone) { EXPECT_FALSE(machine_bound(bound_spec(1))); }

TEST(MachineBound, TheLimitOfTheGpusCountsWholeMachines) {
  PlanSpec spec = bound_spec(0);
  spec.limits.gpus = 15;
  const std::optional<MachineBound> bound = machine_bound(spec);
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->machines, 1);
  EXPECT_EQ(bound->limit, "limits.gpus: 15");
  EXPECT_EQ(bound->raised, "limits.gpus: 16");
}

TEST(MachineBound, APriceLimitsTheMachinesToo) {
  PlanSpec spec = bound_spec(0);
  spec.limits.gpus = 64;
  spec.limits.per_hour = MicroUsd{60'000'000};
  const std::optional<MachineBound> bound = machine_bound(spec);
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->machines, 1);
  EXPECT_TRUE(bound->is_budget);
  EXPECT_EQ(bound->limit, "limits.usd_per_hour: 60.00");
  EXPECT_EQ(bound->raised, "limits.usd_per_hour: 110.08");
}

TEST(MachineBound, MachinesThatExistAreAmongThem) {
  PlanSpec spec = bound_spec(1);
  spec.limits.per_hour = MicroUsd{110'080'000};
  EXPECT_EQ(machine_bound(spec)->machines, 2);
  spec.cluster.provisioner = Provisioner::none;
  EXPECT_EQ(machine_bound(spec)->machines, 1);
  EXPECT_EQ(machine_bound(spec)->limit, "");
}

TEST(MachineBound, APriceIsRoundedUpToCents) { EXPECT_EQ(usd_limit(MicroUsd{10'492'640}), "10.50"); }

}  // namespace
}  // namespace capstan::plan
