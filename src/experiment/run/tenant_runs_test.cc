// Goal: with several services and jobs, each service has the figures that it would have alone, the work of jobs is
// useful, and pods run only where their CPU, memory and labels fit.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "experiment/run/prepare.h"
#include "experiment/run/simulation.h"
#include "scenario/scenario.h"

namespace capstan::experiment {
namespace {

constexpr const char* kTenantRuns = R"(name: tenant-runs
duration: 40m
services:
  - name: chat
    load: {generator: {rate: {kind: spike, rate: 0.5, peak: 8, start: 5m, length: 10m}, input: 600, output: 80}}
    model: Llama-3.1-8B
    gpu: H100
    slo: {ttft: 2s}
    replicas: {min: 1, max: 3}
    engine_settings: {max_seqs: 4}
  - name: pair
    load: {generator: {rate: 0.5, input: 600, output: 80}}
    model: Llama-3.1-8B
    gpu: H100
    slo: {ttft: 3s}
    replicas: {min: 1, max: 1}
    roles: {prefill: {}, decode: {}}
jobs:
  - {name: train, gpu: H100, cpu: 80, node_selector: {tier: batch}, work: 10m, start: 10s, arrivals: {count: 4, at: 1m}}
  - {name: never, gpu: H100, work: 10m, arrivals: {count: 1, at: 2h}}
cluster:
  zones: [a]
  existing:
    - {instance: p5.48xlarge}
    - {instance: p5.48xlarge, labels: {tier: batch}}
policies:
  - {name: capstan, scale: capstan, place: gang, provision: none}
)";

RunResult tenant_run(const std::vector<std::string>& sets = {}) {
  const scenario::ScenarioResult scenario =
      scenario::parse_scenario(kTenantRuns, "s.yaml", {.sets = sets, .trace = {}, .seed = {}, .policies = {}});
  EXPECT_TRUE(scenario.has_value()) << (scenario ? "" : scenario.error().text());
  if (!scenario) return {};
  PreparedRun prepared = prepare(*scenario, scenario->policies.front(), scenario->seed);
  prepared.setup.verify = true;
  const Result<RunResult> result = simulate(prepared.setup);
  EXPECT_TRUE(result.has_value());
  return result ? *result : RunResult();
}

TEST(TenantRuns, EachServiceHasItsFigures) {
  const RunResult result = tenant_run();
  ASSERT_EQ(result.services.size(), 2u);
  const ServiceFigures& chat = result.services[0];
  const ServiceFigures& pair = result.services[1];
  EXPECT_TRUE(chat.roles.empty());
  ASSERT_EQ(pair.roles.size(), 2u);
  EXPECT_EQ(pair.roles[0].name(), "prefill");
  EXPECT_EQ(pair.roles[1].ready_peak, 1);
  EXPECT_GT(chat.cold_starts.count, 0);
  EXPECT_EQ(pair.cold_starts.count, 0) << "its replicas are ready at the start";
  EXPECT_EQ(chat.cold_starts.count, result.cold_starts);
  EXPECT_EQ(chat.cold_starts.max, result.cold_start_max);
  EXPECT_GT(chat.scale_changes, 0);
  EXPECT_EQ(chat.scale_changes + pair.scale_changes, result.scale_changes);
  for (const ServiceFigures& service : result.services) {
    GpuNanoseconds sum = 0;
    for (const GpuNanoseconds part : service.gpu_ns_by_state) sum += part;
    EXPECT_LE(service.gpu_ns - sum, 8) << "each state is rounded down";
    EXPECT_GT(service.gpu_ns_by_state[static_cast<std::size_t>(GpuState::busy)], 0);
  }
  EXPECT_EQ(result.invariants.total(), 0);
}

TEST(TenantRuns, JobsNeedNoService) {
  const std::vector<std::string> only_jobs = {"services=~", "policies.0.scale=~"};
  const RunResult result = tenant_run(only_jobs);
  EXPECT_TRUE(result.services.empty());
  ASSERT_EQ(result.jobs.size(), 2u);
  EXPECT_EQ(result.jobs[0].ended, 4);
  EXPECT_EQ(result.requests.arrived, 0);
  EXPECT_EQ(result.attainment_ppm(), 1'000'000) << "the job of the other class does not arrive in this run";
  EXPECT_GT(result.score_milli(), 0);
  EXPECT_EQ(result.invariants.total(), 0) << "also the costs of the jobs and of idle nodes add up";
  std::vector<std::string> without_end = only_jobs;
  without_end.emplace_back("duration=~");
  without_end.emplace_back("jobs.1.arrivals.at=20m");
  const RunResult ended = tenant_run(without_end);
  EXPECT_EQ(ended.jobs[1].ended, 1);
  EXPECT_LT(ended.simulated, std::chrono::minutes(45)) << "the run ends with its last job";
}

TEST(TenantRuns, TheWorkOfJobsIsUseful) {
  const RunResult with_jobs = tenant_run();
  const RunResult without = tenant_run({"jobs=[{name: never, gpu: H100, work: 10m, arrivals: {count: 1, at: 2h}}]"});
  EXPECT_EQ(with_jobs.jobs[0].ended, 4);
  EXPECT_GE(with_jobs.useful_gpu_ns - without.useful_gpu_ns, GpuNanoseconds{39} * 60'000'000'000);
  EXPECT_GT(with_jobs.score_milli(), without.score_milli());
}

TEST(TenantRuns, AClassWithoutJobsIsAWarning) {
  const std::vector<std::string> warnings = tenant_run().warnings;
  EXPECT_NE(std::ranges::find(warnings, "no job of never arrives in this run, so its figures are zeros"),
            warnings.end());
}

TEST(TenantRuns, AServiceWithoutRequestsIsAWarning) {
  const std::string warning = "no request of pair arrives in this run, so nothing tests its SLO";
  const auto warns = [&](const RunResult& result) {
    return std::ranges::find(result.warnings, warning) != result.warnings.end();
  };
  EXPECT_FALSE(warns(tenant_run()));
  EXPECT_TRUE(warns(tenant_run({"services.pair.load.generator.rate={kind: piecewise, step: 1h, step_rates: [0, 1]}"})));
}

TEST(TenantRuns, APurchaseForPodsRespectsTheLimitOfTheirQueue) {
  const std::vector<std::string> sets = {
      "queues=[{name: batch, gpu_limit: 8}]",
      "jobs=[{name: train, queue: batch, gpu: H100, gpus_per_pod: 8, work: 10m, start: 10s, arrivals: {count: 6}}]",
      "cluster={zones: [a], pools: [{name: p, offerings: [{instance: p5.48xlarge}]}], existing: [{instance: "
      "p5.48xlarge}]}",
      "policies.0.place=first_fit", "policies.0.provision=karpenter"};
  const RunResult result = tenant_run(sets);
  EXPECT_EQ(result.jobs[0].ended, 3);
  EXPECT_EQ(result.nodes_launched, 1) << "the queue may hold the GPUs of one node";
}

TEST(TenantRuns, JobsWaitForTheCpuOfNodesWithTheirLabel) {
  const RunResult result = tenant_run();
  EXPECT_GT(result.jobs[0].wait_p99, std::chrono::minutes(9)) << "a node of 192 CPUs runs two jobs of 80 at once";
  EXPECT_LT(result.jobs[0].wait_p50, std::chrono::minutes(1));
  EXPECT_EQ(tenant_run({"jobs.train.cpu=40"}).jobs[0].wait_p99, result.jobs[0].wait_p50);
}

}  // namespace
}  // namespace capstan::experiment
