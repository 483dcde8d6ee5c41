// Goal: the figures of jobs count each job once, and judge also the jobs that did not end before their deadline.
#include "experiment/run/job_figures.h"

#include <gtest/gtest.h>

#include "experiment/run/prepare.h"
#include "experiment/run/queue_watch.h"
#include "scenario/scenario.h"

namespace capstan::experiment {
namespace {

using namespace std::chrono_literals;

// Sixteen GPUs. The chat needs one; three jobs of eight GPUs arrive at once, and their queue allows one at a time.
constexpr const char* kJobsScenario = R"(name: jobs
duration: 2h
queues:
  - {name: all, gpu_limit: 16}
  - {name: batch, parent: all, gpu_limit: 8}
load: {generator: {rate: 1, input: 200, output: 50}, duration: 1h}
service:
  name: chat
  model: Llama-3.1-8B
  gpu: H100
  slo: {ttft: 1s}
  queue: all
  replicas: {min: 1, max: 4}
jobs:
  - {name: batch, queue: batch, gpu: H100, gpus_per_pod: 8, work: 30m, start: 60s, arrivals: {count: 3, at: 10m},
     goal: {finish_within: 1h}}
cluster:
  zones: [a]
  pools:
    - {name: h100, gpu_limit: 16, offerings: [{instance: p5.48xlarge}]}
  existing:
    - {instance: p5.48xlarge, count: 2, pool: h100}
policies:
  - {name: a, scale: capstan, place: gang, provision: group}
)";

RunResult run_with_jobs(const std::string& set) {
  const auto scenario =
      scenario::parse_scenario(kJobsScenario, "s.yaml", {.sets = {set}, .trace = {}, .seed = {}, .policies = {}});
  EXPECT_TRUE(scenario.has_value()) << (scenario ? "" : scenario.error().text());
  PreparedRun prepared = prepare(*scenario, scenario->policies.front(), 1);
  prepared.setup.verify = true;
  prepared.setup.keep_history = true;
  Result<RunResult> result = simulate(prepared.setup);
  EXPECT_TRUE(result.has_value());
  EXPECT_EQ(result->invariants.partial_gang, 0);
  EXPECT_EQ(result->invariants.work_cut, 0);
  EXPECT_EQ(result->invariants.scale_downs_without_data, 0);
  EXPECT_EQ(result->invariants.limit_exceeded, 0);
  EXPECT_EQ(result->invariants.not_repeatable, 0);
  EXPECT_EQ(result->invariants.unobservable_values, 0);
  EXPECT_EQ(result->invariants.not_conserved, 0);
  EXPECT_EQ(result->invariants.unsettled, 0);
  return std::move(*result);
}

TEST(JobFigures, JobsTakeTurnsUnderTheLimitOfTheirQueue) {
  const RunResult result = run_with_jobs("seed=1");
  ASSERT_EQ(result.jobs.size(), 1u);
  const JobFigures& jobs = result.jobs.front();
  EXPECT_EQ(jobs.arrived, 3);
  EXPECT_EQ(jobs.ended, 3);
  EXPECT_EQ(jobs.due, 3);
  EXPECT_EQ(jobs.late, 2) << "only the first one ends within an hour of its arrival";
  EXPECT_FALSE(jobs.holds_goal());
  EXPECT_NEAR(static_cast<double>(jobs.wait_p50 / 1s), 32 * 60, 60);
  EXPECT_NEAR(static_cast<double>(jobs.wait_p99 / 1s), 64 * 60, 90);
  EXPECT_NEAR(static_cast<double>(jobs.gpu_ns / 1'000'000'000), 3 * 8 * 31 * 60, 300);
  EXPECT_EQ(jobs.computed_gpu_ns / 1'000'000'000, 3 * 8 * 30 * 60) << "without the starts";
  ASSERT_EQ(result.queues.size(), 2u);
  EXPECT_EQ(result.queues[1].held_peak, whole_gpus(8));
  EXPECT_EQ(result.queues[1].waiting_peak, whole_gpus(24)) << "at the end of the minute in which they arrive";
  EXPECT_EQ(result.queues[1].jobs_waiting_peak, 3);
  EXPECT_EQ(result.queues[0].jobs_waiting_peak, 3) << "a queue counts the jobs of those below it";
  ASSERT_EQ(result.queues[1].minutes.size(), result.minutes.size());
  EXPECT_EQ(result.queues[1].minutes[20].jobs_waiting, 2) << "one computes, and two wait for it";
  EXPECT_EQ(result.queues[1].minutes[20].waiting, whole_gpus(16));
  EXPECT_EQ(result.queues[1].minutes[5].jobs_waiting, 0);
  EXPECT_NEAR(static_cast<double>(result.queues[1].jobs_waiting_minutes), 2 * 31 + 31, 5);
  EXPECT_EQ(result.queues[1].gpu_ns, jobs.gpu_ns);
  EXPECT_EQ(result.queues[0].gpu_ns, jobs.gpu_ns + result.services.front().gpu_ns) << "a queue counts those below it";
  EXPECT_EQ(jobs.micro_usd + result.services.front().micro_usd + result.idle_node_micro_usd, result.node_micro_usd);
  ASSERT_TRUE(result.history.has_value());
  const auto of_jobs = std::ranges::count(result.history->gangs, 1u, &GangHistory::user);
  EXPECT_EQ(of_jobs, 3) << "jobs come after the one service";
}

TEST(JobFigures, AJobThatNeverGetsItsGpusWaitsToTheEnd) {
  // The one existing node has eight GPUs, of which the chat holds one. The provider refuses all new nodes.
  const RunResult result = run_with_jobs(
      "cluster={zones: [a], existing: [{instance: p5.48xlarge, count: 1, pool: h100}], pools: [{name: h100, gpu_limit: "
      "16, offerings: [{instance: p5.48xlarge, refused: 100%}]}]}");
  const JobFigures& jobs = result.jobs.front();
  EXPECT_EQ(jobs.waiting, 3);
  EXPECT_EQ(jobs.wait_p50, 110min);
  EXPECT_EQ(jobs.late, 3);
  EXPECT_EQ(jobs.gpu_ns, 0);
}

TEST(JobFigures, AGoalIsNotJudgedBeforeItsTime) {
  const RunResult result = run_with_jobs("jobs.0.goal.finish_within=1h52m");
  EXPECT_EQ(result.jobs.front().due, 3);
  const RunResult open = run_with_jobs("jobs.0.work=100m");
  EXPECT_EQ(open.jobs.front().ended, 1);
  EXPECT_EQ(open.jobs.front().computing + open.jobs.front().waiting, 2);
}

}  // namespace
}  // namespace capstan::experiment
