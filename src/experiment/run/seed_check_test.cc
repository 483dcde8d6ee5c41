// Goal: the outcomes with other seeds are those of `--seed`. Policies that surely cost more than a policy that holds
// the SLO with every seed are left out.
#include "experiment/run/seed_check.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

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

TEST(SeedCheck, LeavesOutPoliciesThatCostMoreThanASteadyOne) {
  scenario::ScenarioResult scenario = scenario::parse_scenario(kFleets, "s.yaml");
  ASSERT_TRUE(scenario) << scenario.error().text();
  scenario->advice = false;
  Result<Comparison> compared = compare(*scenario, 1);
  ASSERT_TRUE(compared);
  EXPECT_TRUE(compared->seed_checks.empty());
  std::vector<RunResult>& results = compared->results;
  const auto checked_policies = [&] {
    const ProgressCallback no_progress;
    ExtraRuns extra(1, 1'000'000, no_progress);
    const Result<std::vector<SeedCheck>> checks = check_seeds(*scenario, results, extra);
    std::vector<std::string> names;
    for (const SeedCheck& check : *checks) names.push_back(check.policy);
    return names;
  };
  EXPECT_EQ(checked_policies(), (std::vector<std::string>{"1 replica", "4 replicas", "8 replicas"}));
  results.back().cost_micro_usd[0] += 1'000'000'000;
  EXPECT_EQ(checked_policies(), (std::vector<std::string>{"1 replica", "4 replicas"}));
}

}  // namespace
}  // namespace capstan::experiment
