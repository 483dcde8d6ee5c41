#include "plan/search/constant_fleet.h"

#include <gtest/gtest.h>

#include "plan/testing/sample_specs.h"

namespace capstan::plan {
namespace {

/// Returns a spec whose load needs more than the two GPUs of its limit.
PlanSpec limited_spec() {
  PlanSpec spec = sample_specs::small_spec();
  spec.services[0].load.requests_per_s = 20;
  spec.limits.gpus = 2;
  return spec;
}

PlanSpec free_spec() {
  PlanSpec spec = limited_spec();
  spec.limits = {};
  return spec;
}

const ServicePlan& missed_plan() {
  static const ServicePlan plan = [] {
    SearchOptions alone;
    alone.is_alone = true;
    const auto found = search_fleets(limited_spec(), alone);
    return found ? found->services.at(0) : ServicePlan{};
  }();
  return plan;
}

TEST(PlanConstantFleet, IsTheSmallestThatHoldsTheSlo) {
  const PlanSpec free = free_spec();
  const ServicePlan& missed = missed_plan();
  ASSERT_FALSE(missed.holds_slo);
  ASSERT_FALSE(missed.seeds.empty());
  std::int64_t simulations = 0;
  const auto found = find_constant_fleet_of(free, free.services[0], missed, {}, 100'000'000, simulations);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_TRUE(found->holds_slo);
  EXPECT_EQ(found->seeds.size(), 5u);
  EXPECT_EQ(found->roles.front().minimum, found->roles.front().maximum);
  EXPECT_GE(simulations, 5);
  EXPECT_LT(simulations, 30);
  // A limit for one replica less is not enough, and the limit for this fleet is.
  for (const bool is_enough : {true, false}) {
    PlanSpec limited = free;
    limited.limits.gpus =
        (found->roles.front().minimum - (is_enough ? 0 : 1)) * found->roles.front().gpus_per_replica();
    SearchOptions alone;
    alone.is_alone = true;
    const auto again = search_fleets(limited, alone);
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(again->services.at(0).holds_slo, is_enough) << *limited.limits.gpus;
  }
}

TEST(PlanConstantFleet, WithoutABudgetAHeldSizeIsProvenUnderEverySeed) {
  const PlanSpec free = free_spec();
  std::int64_t simulations = 0;
  const auto found = find_constant_fleet_of(free, free.services[0], missed_plan(), {}, 0, simulations);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->holds_slo, found->seeds.size() == 5u);
  EXPECT_LE(simulations, 20);
}

TEST(PlanConstantFleet, SaysThatNoSizeHoldsTheSlo) {
  PlanSpec free = free_spec();
  free.services[0].goodput_per_s = 500;  // more than the load
  std::int64_t simulations = 0;
  const auto found = find_constant_fleet_of(free, free.services[0], missed_plan(), {}, 100'000'000, simulations);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_FALSE(found->holds_slo);
  EXPECT_FALSE(found->variants.at(0).holds_slo);
}

}  // namespace
}  // namespace capstan::plan
