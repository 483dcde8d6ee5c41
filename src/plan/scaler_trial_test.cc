#include "plan/scaler_trial.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

using namespace std::chrono_literals;

/// A service whose scenario keeps one replica busy for ten minutes.
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
  pools: [{name: h100, gpu_limit: 4, offerings: [{instance: a3-highgpu-1g}]}]
  existing: [{instance: a3-highgpu-1g, pool: h100}]
policies: [{name: own, scale: capstan, place: gang, provision: group}]
)";
  return service;
}

TEST(ScalerTrial, RunsAnotherPolicyUnderThePlansSeeds) {
  const auto trial = try_scaler(tried_service(), "{policy: fixed, replicas: 1}", {});
  ASSERT_TRUE(trial);
  EXPECT_EQ(trial->refused, "");
  EXPECT_EQ(trial->simulations, 2);
  EXPECT_GT(trial->attainment_ppm, 990'000);
  EXPECT_NEAR(static_cast<double>(trial->micro_usd_per_hour), 11.06e6, 0.2e6);  // one a3-highgpu-1g
}

TEST(ScalerTrial, SaysWhyAPolicyCannotBeSimulated) {
  const auto trial = try_scaler(tried_service(), "{manifest: {kind: HorizontalPodAutoscaler, spec: {}}}", {});
  ASSERT_TRUE(trial);
  EXPECT_NE(trial->refused, "");
  EXPECT_EQ(trial->simulations, 0);
}

}  // namespace
}  // namespace capstan::plan
