#include "plan/search/scaler_choice.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/result/figures.h"
#include "plan/testing/sample_specs.h"

namespace capstan::plan {
namespace {

ServicePlan planned(const PlanSpec& spec) {
  auto found = search_fleets(spec, {});
  if (!found) {
    ADD_FAILURE() << found.error().text();
    return {};
  }
  return found->services.at(0);
}

const ServicePlan& chosen_plan() {
  static const ServicePlan plan = planned(sample_specs::small_spec());
  return plan;
}

TEST(ScalerChoice, TakesTheCheapestThatHoldsTheSlo) {
  const ServicePlan& plan = chosen_plan();
  ASSERT_EQ(plan.variants.size(), 4u);
  EXPECT_TRUE(plan.holds_slo);
  for (const ScalerVariant& variant : plan.variants) {
    EXPECT_EQ(variant.refusal_reason, "");
    EXPECT_EQ(variant.seeds.size(), 5u) << scaler_word(variant.kind);
    if (!variant.holds_slo) continue;
    EXPECT_GE(micro_usd_per_hour(variant.seeds), micro_usd_per_hour(plan)) << scaler_word(variant.kind);
    // The plan takes the constant fleet if it is as cheap as the others, or else the first scaler.
    const bool is_as_cheap = micro_usd_per_hour(variant.seeds) == micro_usd_per_hour(plan);
    EXPECT_TRUE(!is_as_cheap || plan.scaler == ScalerKind::constant || plan.scaler <= variant.kind);
  }
}

TEST(ScalerChoice, TheOthersReachTheAttainmentOfTheChosenOneLessHalfAPoint) {
  const ServicePlan& plan = chosen_plan();
  for (const ScalerVariant& variant : plan.variants) {
    if (variant.kind == ScalerKind::constant) continue;
    const bool is_at_maximum = variant.roles[0].minimum == variant.roles[0].maximum;
    EXPECT_TRUE(is_at_maximum ||
                lowest_attainment_ppm(variant.seeds) >= lowest_attainment_ppm(plan) - kScalerShortfallPpm)
        << scaler_word(variant.kind);
  }
}

TEST(ScalerChoice, TheConstantFleetIsTheSmallestThatHolds) {
  const ScalerVariant* constant = find_variant(chosen_plan(), ScalerKind::constant);
  ASSERT_NE(constant, nullptr);
  EXPECT_TRUE(constant->holds_slo);
  EXPECT_EQ(constant->roles[0].minimum, constant->roles[0].maximum);
  for (const FrontierPoint& point : chosen_plan().frontier) {
    if (!point.holds_slo || point.seeds < 5 || !point.fleet.ends_with("constant fleet")) continue;
    EXPECT_GE(point.micro_usd_per_hour, micro_usd_per_hour(constant->seeds)) << point.fleet;
  }
}

TEST(ScalerChoice, TheRolesAreThoseOfTheChosenScaler) {
  const ServicePlan& plan = chosen_plan();
  const ScalerVariant* chosen = find_variant(plan, plan.scaler);
  ASSERT_NE(chosen, nullptr);
  EXPECT_EQ(plan.roles[0].minimum, chosen->roles[0].minimum);
  EXPECT_EQ(plan.scenario, chosen->scenario);
  EXPECT_EQ(plan.seeds.size(), chosen->seeds.size());
}

/// A scaler whose queries find no series keeps its minimum, and looks like a constant fleet.
TEST(ScalerChoice, TheQueriesOfTheThresholdsFindTheirSeries) {
  for (const ScalerKind kind : {ScalerKind::scaled_object, ScalerKind::hpa}) {
    const ScalerVariant* variant = find_variant(chosen_plan(), kind);
    const auto scenario = scenario::parse_scenario(variant->scenario, "scenario-small.yaml");
    ASSERT_TRUE(scenario) << scenario.error().text();
    const auto result = experiment::run(*scenario, scenario->policies.front(), 1);
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->warnings.empty()) << result->warnings.front();
    EXPECT_EQ(result->attainment_ppm(), variant->seeds.front().attainment_ppm);
  }
}

TEST(ScalerChoice, LeavesOutEnginesThatTheSimulatorDoesNotExport) {
  PlanSpec spec = sample_specs::small_spec();
  spec.services.front().engine = Engine::sglang;
  const ServicePlan plan = planned(spec);
  EXPECT_NE(find_variant(plan, ScalerKind::hpa)->refusal_reason, "");
  EXPECT_TRUE(find_variant(plan, ScalerKind::hpa)->seeds.empty());
  EXPECT_EQ(find_variant(plan, ScalerKind::constant)->refusal_reason, "");
  EXPECT_EQ(with_scaler(plan, ScalerKind::hpa).roles[0].minimum, plan.roles[0].minimum);
}

/// A steady load gives a scaler nothing to do, so that a constant fleet costs as much and needs no autoscaler.
TEST(ScalerChoice, PrefersAConstantFleetToAScalerOfTheSameCost) {
  PlanSpec spec = sample_specs::small_spec();
  spec.services[0].load.burst_factor = 1;
  const ServicePlan plan = planned(spec);
  EXPECT_EQ(plan.scaler, ScalerKind::constant);
  EXPECT_EQ(micro_usd_per_hour(plan), micro_usd_per_hour(find_variant(plan, ScalerKind::capstan)->seeds));
}

/// Policy Capstan has no threshold on the queue, so another scaler is taken although it costs more.
TEST(ScalerChoice, TakesAScalerThatFollowsTheSignalOfTheSpec) {
  PlanSpec spec = sample_specs::spec_of(R"(
cluster: {instances: [g6e.xlarge]}
services:
  - name: assistant
    model: Llama-3.1-8B
    dtype: fp8
    slo: {ttft_p99: 1s, tpot: 50ms}
    load: {requests_per_second: 2, burst_factor: 2}
)");
  EXPECT_EQ(planned(spec).scaler, ScalerKind::capstan) << "the cheapest of all scalers";
  for (const std::string_view signal : {"queue", "kv", "latency"}) {
    spec.asked.scale_on = signal;
    const ServicePlan plan = planned(spec);
    EXPECT_TRUE(plan.holds_slo) << signal;
    EXPECT_NE(plan.scaler, ScalerKind::capstan) << signal;
  }
}

/// No scaler can hold what the largest constant fleet misses, so no minima are searched.
TEST(ScalerChoice, EndsSoonIfNoFleetCanHoldTheSlo) {
  PlanSpec spec = sample_specs::small_spec();
  spec.services[0].goodput_per_s = 500;  // more than the load
  const ServicePlan plan = planned(spec);
  EXPECT_FALSE(plan.holds_slo);
  for (const ScalerKind kind : {ScalerKind::scaled_object, ScalerKind::hpa}) {
    const ScalerVariant* variant = find_variant(plan, kind);
    ASSERT_NE(variant, nullptr);
    EXPECT_EQ(variant->seeds.size(), 2u) << scaler_word(kind);
    EXPECT_EQ(variant->roles[0].minimum, plan.roles[0].minimum) << scaler_word(kind);
  }
}

}  // namespace
}  // namespace capstan::plan
