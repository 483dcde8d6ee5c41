#include "plan/search/zone_loss.h"

#include <gtest/gtest.h>

#include "plan/result/figures.h"
#include "plan/search/robustness.h"
#include "plan/testing/sample_specs.h"

namespace capstan::plan {
namespace {

/// A steady load on constant fleets in two zones, for ten minutes.
class ZoneLossTest : public ::testing::Test {
 protected:
  ZoneLossTest() : spec_(sample_specs::small_spec()) {
    spec_.cluster.zones = {"a", "b"};
    spec_.services[0].load.burst_factor = 1;
    spec_.services[0].load.requests_per_s = 30;
    spec_.services[0].load.duration = std::chrono::minutes(10);
    const LoadFacts load = count_load(spec_.services[0]).value();
    auto candidates = fleet_candidates(spec_, spec_.services[0], load, {}).value();
    simulator_.emplace(spec_, spec_.services[0], load, std::move(candidates), options_);
  }

  std::optional<ZoneLossMinimum> find(ReplicaCount step, ServicePlan plan = {.holds_slo = true, .lost_zone = "a"}) {
    const FleetKey chosen{0, step, 0, ScalerKind::constant};
    plan.seeds = {{.seed = 1, .attainment_ppm = 999'000}, {.seed = 2, .attainment_ppm = 998'000}};
    plan.robustness =
        robustness(*simulator_, fleet_of(simulator_->candidates(), chosen), plan.seeds, nullptr, {}).value();
    return find_zone_loss_minimum(*simulator_, chosen, plan, {.zone_loss = 1'000'000}).value();
  }

  PlanSpec spec_;
  SearchOptions options_{};
  std::optional<FleetSimulator> simulator_;
};

TEST_F(ZoneLossTest, FindsAHigherMinimumThatHoldsTheSlo) {
  const ReplicaCount step = peak_step(simulator_->candidates()[0]);
  const auto found = find(step);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->holds_slo);
  ASSERT_EQ(found->roles.size(), 1u);
  EXPECT_GT(found->roles[0].minimum, step);
  EXPECT_GE(found->trial.attainment_ppm, spec_.services[0].slo.attainment_ppm);
  EXPECT_GT(found->micro_usd_per_hour, 0);
  EXPECT_NE(found->trial.scenario.find("replicas: " + std::to_string(found->roles[0].minimum)), std::string::npos)
      << found->trial.scenario;
  EXPECT_FALSE(find(found->roles[0].minimum)) << "this fleet holds the SLO already";
}

TEST_F(ZoneLossTest, SaysThatTheHighestMinimumMissesTheSlo) {
  spec_.services[0].slo.attainment_ppm = 1'000'000;  // the requests in flight in the zone are lost in any case
  const auto found = find(highest_step(simulator_->candidates()[0]));
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->holds_slo);
}

TEST_F(ZoneLossTest, IsNotAskedOfAFleetThatMissesItsSloAnyway) {
  const ReplicaCount step = peak_step(simulator_->candidates()[0]);
  EXPECT_FALSE(find(step, {.holds_slo = false, .lost_zone = "a"}));
}

TEST_F(ZoneLossTest, NeedsTwoZones) {
  EXPECT_EQ(*zone_loss_conditions(*simulator_)->lost_zone, "a");
  spec_.cluster.zones = {"a"};
  EXPECT_FALSE(zone_loss_conditions(*simulator_));
}

}  // namespace
}  // namespace capstan::plan
