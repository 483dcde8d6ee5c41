#include "plan/search/scaler_trial.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

using namespace std::chrono_literals;

/// Returns a service whose scenario keeps one replica busy for ten minutes.
ServicePlan tried_service() {
  ServicePlan service{.service = "chat"};
  service.seeds = {{.seed = 1}, {.seed = 2}};
  service.scenario = R"(name: tried
load: {generator: {rate: 2, input: 200, output: 50}, duration: 10m}
service:
  model: Llama-3.1-8B
  gpu: H100
  slo: {ttft: 1s}
  replicas: {min: 1, max: 4}
cluster:
  pools: [{name: h100, gpu_limit: 4, offerings: [{instance: a3-highgpu-1g, usd_per_hour: 11.0612}]}]
  existing: [{instance: a3-highgpu-1g, usd_per_hour: 11.0612, pool: h100}]
policies: [{name: own, scale: capstan, place: gang, provision: group}]
)";
  return service;
}

TEST(ScalerTrial, RunsAnotherPolicyUnderThePlansSeeds) {
  const auto trial = try_scaler(tried_service(), {.scale = "{policy: fixed, replicas: 1}"}, {});
  ASSERT_TRUE(trial);
  EXPECT_EQ(trial->refusal_reason, "");
  EXPECT_EQ(trial->simulations, 2);
  EXPECT_GT(trial->attainment_ppm, 990'000);
  EXPECT_NEAR(static_cast<double>(trial->micro_usd_per_hour), 11.06e6, 0.2e6);  // one a3-highgpu-1g
}

TEST(ScalerTrial, HasTheCostOfThePlansOwnMeanOverSeeds) {
  // The cost of a run is not a multiple of 7. A mean that divides each cost before it adds them would be lower.
  constexpr std::int64_t kSevenSeeds = 7;
  ServicePlan service = tried_service();
  service.seeds.clear();
  std::int64_t sum = 0;
  for (std::uint64_t seed = 1; seed <= kSevenSeeds; ++seed) {
    ServicePlan single = tried_service();
    single.seeds = {{.seed = seed}};
    service.seeds.push_back({.seed = seed});
    const auto one = try_scaler(single, {.scale = "{policy: fixed, replicas: 1}"}, {});
    ASSERT_TRUE(one);
    sum += one->micro_usd_per_hour;
  }
  const auto all = try_scaler(service, {.scale = "{policy: fixed, replicas: 1}"}, {});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->micro_usd_per_hour, sum / kSevenSeeds);
}

TEST(ScalerTrial, MayAddNodesAlsoIfThePlanHasAConstantFleet) {
  ServicePlan constant = tried_service();
  constant.scaler = ScalerKind::constant;
  constant.variants = {{.kind = ScalerKind::hpa, .scenario = constant.scenario}};
  const std::string range = "{min: 1, max: 4}";
  constant.scenario.replace(constant.scenario.find(range), range.size(), "{min: 1, max: 1}");
  const TriedScaler three = {.scale = "{policy: fixed, replicas: 3}"};
  const auto trial = try_scaler(constant, three, {});
  ASSERT_TRUE(trial);
  EXPECT_EQ(trial->refusal_reason, "");
  EXPECT_GT(trial->micro_usd_per_hour, 20'000'000);  // more than one machine of 11.06 USD/h
}

TEST(ScalerTrial, HasRoomForTheMaximumOfTheScaler) {
  ServicePlan service = tried_service();
  service.roles = {{.machine = {.name = "a3-highgpu-1g", .gpus = 1}}};
  service.roles.front().engine.tp = 1;
  const TriedScaler six = {.scale = "{policy: fixed, replicas: 6}", .maxima = {6}};
  const auto trial = try_scaler(service, six, {});
  ASSERT_TRUE(trial);
  EXPECT_EQ(trial->refusal_reason, "");
  EXPECT_GT(trial->micro_usd_per_hour, 50'000'000);  // more than four machines of 11.06 USD/h
}

TEST(ScalerTrial, SaysWhyAPolicyCannotBeSimulated) {
  const auto trial =
      try_scaler(tried_service(), {.scale = "{manifest: {kind: HorizontalPodAutoscaler, spec: {}}}"}, {});
  ASSERT_TRUE(trial);
  EXPECT_NE(trial->refusal_reason, "");
  EXPECT_EQ(trial->simulations, 0);
}

}  // namespace
}  // namespace capstan::plan
