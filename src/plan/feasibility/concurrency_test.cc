#include "plan/feasibility/concurrency.h"

#include <gtest/gtest.h>

#include "plan/fleet/capacity.h"

namespace capstan::plan {
namespace {

using namespace std::chrono_literals;

PlanSpec concurrency_spec() {
  PlanSpec spec;
  spec.engines = {std::shared_ptr<const engine::EngineTable>(), &engine::EngineTable::bundled()};
  spec.cluster.capacity = {model::CapacityType::on_demand};
  spec.cluster.machines = {{.name = "eight", .gpu = "h100_sxm", .gpus = 8, .on_demand_per_hour = MicroUsd{40'000'000}}};
  spec.services = {{.name = "chat",
                    .model = "Llama-3.3-70B",
                    .dtype = "fp8",
                    .slo = {.ttft = 2s, .tpot = 40ms},
                    .load = {.prompt = {.median = 1000, .longest = 1000}, .answer = {.median = 301, .longest = 301}}}};
  return spec;
}

TEST(TimeInFlight, IsHalfOfTheTtftAndAStepForEachFurtherToken) {
  const PlanSpec spec = concurrency_spec();
  const TimeInFlight time = time_in_flight(spec.services.front(), spec);
  EXPECT_GT(time.seconds, 1 + 300 * 0.010);  // at the largest batch, a step takes more than 10 ms
  EXPECT_LE(time.seconds, 1 + 300 * 0.040);  // the step holds the bound
  EXPECT_TRUE(time.arithmetic.starts_with("1 s (half of the bound on TTFT) + 300 tokens x ")) << time.arithmetic;
  EXPECT_NE(time.arithmetic.find("step of Llama-3.3-70B in fp8 on "), std::string::npos) << time.arithmetic;
}

TEST(TimeInFlight, TakesTheBoundsWhereNoReplicaReachesThem) {
  PlanSpec spec = concurrency_spec();
  spec.cluster.machines.clear();
  const TimeInFlight time = time_in_flight(spec.services.front(), spec);
  EXPECT_NEAR(time.seconds, 1 + 300 * 0.020, 1e-9);
  EXPECT_EQ(time.arithmetic, "1 s (half of the bound on TTFT) + 300 tokens x 20 ms (half of the bound on TPOT)");
}

TEST(TimeInFlight, AssumesWhatHasNoBound) {
  PlanSpec spec = concurrency_spec();
  spec.cluster.machines.clear();
  spec.services.front().slo = {.e2e = 60s};
  EXPECT_NEAR(time_in_flight(spec.services.front(), spec).seconds, 1 + 300 * 0.030, 1e-9);
}

TEST(MeanTokens, IsAboveTheMedianOfAWideDistribution) {
  EXPECT_EQ(mean_tokens({.median = 100}), 100);
  EXPECT_NEAR(mean_tokens({.median = 100, .sigma = 1}), 164.87, 0.01);
}

}  // namespace
}  // namespace capstan::plan
