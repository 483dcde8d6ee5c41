// Goal: the outcomes with other seeds are those of `--seed`, and the search ends at the first policy that holds the SLO
// with every seed.
#include "experiment/run/seed_check.h"

#include <gtest/gtest.h>

#include "experiment/compare.h"
#include "experiment/run/prepare.h"

namespace capstan::experiment {
namespace {

/// Three fixed fleets on one node, so they cost the same and rank by name. The load and the speed of the engine depend
/// on the seed.
constexpr const char* kFleets = R"(name: fleets
seed: 7
load:
  generator: {rate: 12, input: 900, output: 120}
  duration: 4m
service:
  model: Llama-3.1-8B
  gpu: H100
  slo: {ttft: 300ms, tpot: 50ms, attainment: 97%}
  replicas: {min: 1, max: 8}
cluster:
  existing: [{instance: p5.48xlarge}]
policies:
  - {name: 1 replica, scale: {policy: fixed, replicas: 1}, place: gang, provision: none}
  - {name: 4 replicas, scale: {policy: fixed, replicas: 4}, place: gang, provision: none}
  - {name: 8 replicas, scale: {policy: fixed, replicas: 8}, place: gang, provision: none}
)";

TEST(SeedCheck, OutcomesAreThoseOfRunsWithTheSeed) {
  const scenario::ScenarioResult scenario = scenario::parse_scenario(kFleets, "s.yaml");
  ASSERT_TRUE(scenario) << scenario.error().text();
  const Result<Comparison> compared = compare(*scenario, 1);
  ASSERT_TRUE(compared);
  ASSERT_FALSE(compared->seed_checks.empty());
  for (const SeedCheck& check : compared->seed_checks) {
    ASSERT_EQ(check.outcomes.size(), kCheckedSeeds);
    const scenario::PolicySpec* policy = find_policy(*scenario, check.policy);
    ASSERT_NE(policy, nullptr);
    for (std::size_t i = 0; i < check.outcomes.size(); ++i) {
      const SeedOutcome& outcome = check.outcomes[i];
      EXPECT_EQ(outcome.seed, 7 + i);
      const Result<RunResult> alone = run(*scenario, *policy, outcome.seed);
      ASSERT_TRUE(alone);
      EXPECT_EQ(outcome.attainment_ppm, alone->attainment_ppm()) << check.policy << " " << outcome.seed;
      EXPECT_EQ(outcome.micro_usd, alone->total_micro_usd());
    }
  }
}

TEST(SeedCheck, EndsAtThePolicyThatHoldsTheSloWithEverySeed) {
  scenario::ScenarioResult scenario = scenario::parse_scenario(kFleets, "s.yaml");
  ASSERT_TRUE(scenario) << scenario.error().text();
  const Result<Comparison> compared = compare(*scenario, 1);
  ASSERT_TRUE(compared);
  const std::vector<SeedCheck>& checks = compared->seed_checks;
  ASSERT_FALSE(checks.empty());
  EXPECT_TRUE(checks.back().holds_with_all()) << "four replicas always suffice, so eight are not tried";
  EXPECT_NE(checks.back().policy, "8 replicas");
  EXPECT_EQ(compared->results.front().policy, checks.back().policy) << "it is the first row";
  for (const SeedCheck& check : std::span(checks).first(checks.size() - 1)) EXPECT_FALSE(check.holds_with_all());
  scenario->advice = false;
  EXPECT_TRUE(compare(*scenario, 1)->seed_checks.empty());
}

}  // namespace
}  // namespace capstan::experiment
