// Goal: each service and each class of jobs counts for its team, and the teams together are the whole fleet.
#include "experiment/run/team_figures.h"

#include <gtest/gtest.h>

#include "experiment/run/prepare.h"
#include "scenario/scenario.h"

namespace capstan::experiment {
namespace {

constexpr const char* kTeams = R"(name: teams
duration: 1h
services:
  - {name: chat, team: web, model: Llama-3.1-8B, gpu: H100, slo: {ttft: 1s}, replicas: {min: 1, max: 4},
     load: {generator: {rate: 1, input: 200, output: 50}, duration: 50m}}
  - {name: code, model: Llama-3.1-8B, gpu: H100, slo: {ttft: 1s}, replicas: {min: 1, max: 4},
     load: {generator: {rate: 2, input: 200, output: 50}, duration: 50m}}
jobs:
  - {name: train, team: research, gpu: H100, gpus_per_pod: 2, work: 10m, arrivals: {count: 2, at: 5m}}
  - {name: index, team: web, gpu: H100, work: 10m, arrivals: {count: 1, at: 5m}}
cluster:
  existing:
    - {instance: p5.48xlarge, count: 1}
policies:
  - {name: a, scale: capstan, place: gang, provision: none}
)";

RunResult run_of(std::vector<std::string> sets) {
  const auto scenario =
      scenario::parse_scenario(kTeams, "s.yaml", {.sets = std::move(sets), .trace = {}, .seed = {}, .policies = {}});
  EXPECT_TRUE(scenario.has_value()) << (scenario ? "" : scenario.error().text());
  PreparedRun prepared = prepare(*scenario, scenario->policies.front(), 1);
  prepared.setup.verify = true;
  Result<RunResult> result = simulate(prepared.setup);
  EXPECT_TRUE(result.has_value());
  return std::move(*result);
}

TEST(TeamFigures, EachTeamHasItsServicesAndJobs) {
  RunResult result = run_of({});
  EXPECT_EQ(result.invariants.not_conserved, 0);
  ASSERT_EQ(result.teams.size(), 3u);
  const TeamFigures& web = result.teams[0];
  EXPECT_EQ(web.name, "web");
  EXPECT_EQ(web.met, result.services[0].requests.met);
  EXPECT_EQ(web.jobs_ended, 1);
  EXPECT_EQ(web.gpu_ns, result.services[0].gpu_ns + result.jobs[1].gpu_ns);
  EXPECT_EQ(web.micro_usd, result.services[0].micro_usd + result.jobs[1].micro_usd);
  const TeamFigures& research = result.teams[1];
  EXPECT_EQ(research.name, "research");
  EXPECT_EQ(research.arrived, 0);
  EXPECT_EQ(research.jobs_ended, 2);
  const TeamFigures& rest = result.teams[2];
  EXPECT_EQ(rest.name, "") << "the service without a team is the last row";
  EXPECT_EQ(rest.met, result.services[1].requests.met);
  EXPECT_EQ(web.micro_usd + research.micro_usd + rest.micro_usd + result.idle_node_micro_usd, result.node_micro_usd);
  EXPECT_TRUE(teams_add_up(result));
  ++result.teams[1].micro_usd;
  EXPECT_FALSE(teams_add_up(result));
  EXPECT_EQ(open_balances(result), 1);
}

TEST(TeamFigures, WithoutTeamsThereIsNoRow) {
  const RunResult result = run_of({"services.chat.team=~", "jobs.train.team=~", "jobs.index.team=~"});
  EXPECT_TRUE(result.teams.empty());
  EXPECT_TRUE(teams_add_up(result));
}

}  // namespace
}  // namespace capstan::experiment
