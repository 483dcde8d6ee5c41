#include "plan/make_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/figures.h"
#include "plan/render/render.h"
#include "plan/sample_specs.h"
#include "plan/threshold_minimum.h"

namespace capstan::plan {
namespace {

const Plan& made_plan() {
  static const Plan plan = make_plan(sample_specs::small_spec(), {}).value();
  return plan;
}

TEST(MakePlan, HasEverySectionAndEndsWithTheKillSwitch) {
  std::vector<std::string> keys;
  for (const Section& section : made_plan().sections) keys.push_back(section.key);
  const std::vector<std::string> expected = {"nodes",    "gangs", "replicas", "warm_pool", "sharing",
                                             "workload", "cost",  "proof",    "monitoring"};
  EXPECT_EQ(keys, expected);
  EXPECT_FALSE(made_plan().sections.back().commands.empty());
}

TEST(MakePlan, CountsTheSimulationsOfTheThresholdScalersToo) {
  std::int64_t of_thresholds = 0;
  for (const ThresholdTrial& trial : made_plan().services.front().threshold_trials) of_thresholds += trial.simulations;
  EXPECT_EQ(of_thresholds, 10);  // a ScaledObject and an HPA under five seeds each
  EXPECT_GT(made_plan().simulations, of_thresholds);
}

TEST(ThresholdMinimum, ReachesTheStatedAttainmentOrTheMaximum) {
  const ServicePlan& service = made_plan().services.front();
  const RoleFleet& role = service.roles.front();
  const bool holds = std::ranges::all_of(service.threshold_trials, [&](const ThresholdTrial& trial) {
    return trial.attainment_ppm >= lowest_attainment_ppm(service) - kThresholdShortfallPpm;
  });
  EXPECT_TRUE(holds || role.threshold_minimum == role.maximum);
  EXPECT_GE(role.threshold_minimum, role.minimum);
}

TEST(ThresholdMinimum, LeavesOutEnginesThatTheSimulatorDoesNotExport) {
  PlanSpec spec = sample_specs::small_spec();
  spec.services.front().engine = Engine::sglang;
  ServicePlan service = made_plan().services.front();
  service.threshold_trials.clear();
  EXPECT_EQ(fit_threshold_minimum(spec, spec.services.front(), service, {}).value(), 0);
  EXPECT_TRUE(service.threshold_trials.empty());
  EXPECT_EQ(service.roles.front().threshold_minimum, service.roles.front().minimum);
}

}  // namespace
}  // namespace capstan::plan
