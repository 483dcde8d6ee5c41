#include "scenario/idle_bounds.h"

#include <gtest/gtest.h>

namespace capstan::scenario {
namespace {

constexpr const char* kBounded = R"(name: bounded
load: {generator: {rate: 2, input: 1500, output: 50}, duration: 5m}
service:
  model: Llama-3.1-8B
  gpu: L40S
  slo: {ttft: 1s, tpot: 60ms}
  replicas: {min: 1, max: 4}
cluster: {pools: [{name: l40s, offerings: [{instance: g6e.xlarge}]}]}
policies: [{name: a, scale: queue_hpa, place: gang, provision: group}]
)";

/// Returns the error of the scenario with these changes; "possible" if it has none.
std::string outcome_of_bounds(const std::vector<std::string>& sets) {
  const ScenarioResult scenario = parse_scenario(kBounded, "s.yaml", {sets, {}, {}, {}});
  if (scenario) return "possible";
  EXPECT_EQ(scenario.error().list.front().kind, ErrorKind::infeasible);
  return scenario.error().text();
}

TEST(IdleBounds, RefuseWhatOneRequestOnAnIdleReplicaCannotMeet) {
  EXPECT_EQ(outcome_of_bounds({}), "possible");
  const std::string tpot = outcome_of_bounds({"service.slo.tpot=1ms"});
  EXPECT_TRUE(
      tpot.starts_with("--set service.slo.tpot=1ms: slo.tpot: 1ms is shorter than one step with a single "
                       "request, which takes "))
      << tpot;
  EXPECT_TRUE(tpot.contains("(Llama-3.1-8B on 1 L40S)")) << tpot;
  const std::string ttft = outcome_of_bounds({"service.slo.ttft=30ms"});
  EXPECT_TRUE(ttft.contains("slo.ttft: 30ms is shorter than the front end and a prompt of 1,500 tokens")) << ttft;
}

TEST(IdleBounds, AllowWhatAFewRequestsMayMeet) {
  EXPECT_EQ(outcome_of_bounds({"service.slo.tpot=1ms", "load.generator.output=1"}), "possible")
      << "answers of one token have no time per output token";
  EXPECT_EQ(outcome_of_bounds({"service.slo.ttft=50ms", "load.generator.input={kind: uniform, min: 1, max: 1500}"}),
            "possible")
      << "short prompts may meet it";
  EXPECT_EQ(outcome_of_bounds({"service.slo={ttft: 30ms, ttft_prefills: 3}"}), "possible")
      << "the bound grows with the prompt";
}

}  // namespace
}  // namespace capstan::scenario
