// Goal: a spec says what its tenants run besides services; values that it leaves out have defaults that the plan lists.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "plan/read/read_spec.h"
#include "plan/spec/testing.h"

namespace capstan::plan {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kJobsSpec = R"(cluster: {instances: [p5.48xlarge]}
services:
- name: chat
  model: meta-llama/Llama-3.3-70B-Instruct
  dtype: fp8
  slo: {ttft_p99: 2s, tpot: 40ms}
)";

SpecResult with_tenant(const std::string& tenant, const std::string& more = "name=s") {
  const std::vector<std::string> sets = {"tenants=[{name: production}, " + tenant + "]", more};
  return parse_plan_spec(kJobsSpec, "s.yaml", sets);
}

TEST(ReadSpecJobs, ReadsWhatATenantRuns) {
  const SpecResult spec = with_tenant(
      "{name: lab, kind: training, jobs: [{name: tune, pods: {min: 1, max: 4}, gpus_per_pod: 8, work: {median: 2h, "
      "sigma: 0.5}, arrivals: {count: 3, at: 5m, every: 1h}, preemptible: false, checkpoint_every: 20m}]}");
  ASSERT_TRUE(spec) << spec.error().text();
  ASSERT_EQ(spec->tenants[1].jobs.size(), 1u);
  const TenantJobs& jobs = spec->tenants[1].jobs[0];
  EXPECT_EQ(jobs.name, "tune");
  EXPECT_EQ(jobs.load.sizes[0].min_pods, 1);
  EXPECT_EQ(jobs.load.sizes[0].pods, 4);
  EXPECT_EQ(jobs.load.sizes[0].gpus_per_pod, 8);
  EXPECT_EQ(jobs.load.work.median, 2h);
  EXPECT_EQ(jobs.load.batches.count, 3);
  EXPECT_EQ(jobs.load.batches.interval, 1h);
  EXPECT_FALSE(jobs.preemptible);
  EXPECT_EQ(jobs.checkpoint_every, 20min);
  EXPECT_EQ(default_of(*spec, "tenants.lab.jobs.tune.work"), "");
}

TEST(ReadSpecJobs, ListsTheDefaultsOfAClass) {
  const SpecResult spec = with_tenant("{name: nightly, kind: batch, jobs: [{work: 20m}]}");
  ASSERT_TRUE(spec) << spec.error().text();
  const TenantJobs& jobs = spec->tenants[1].jobs.at(0);
  EXPECT_EQ(jobs.name, "nightly");
  EXPECT_EQ(jobs.load.sizes[0].gpus_per_pod, 1);
  EXPECT_EQ(jobs.load.rate.per_hour, 6);
  EXPECT_TRUE(jobs.preemptible) << "its priority is 25";
  EXPECT_EQ(default_of(*spec, "tenants.nightly.jobs.arrivals"), "6 jobs per hour");
  EXPECT_EQ(default_of(*spec, "tenants.nightly.jobs.checkpoint_every"), "none");
  EXPECT_EQ(default_of(*spec, "tenants.nightly.jobs.preemptible"), "true");
}

TEST(ReadSpecJobs, ATrainingTenantWithoutJobsHasAssumedOnes) {
  const SpecResult assumed = with_tenant("{name: lab, kind: training, gpu_quota: 16}");
  ASSERT_TRUE(assumed) << assumed.error().text();
  ASSERT_EQ(assumed->tenants[1].jobs.size(), 1u);
  EXPECT_NE(default_of(*assumed, "tenants.lab.jobs"), "");
  const SpecResult none = with_tenant("{name: lab, kind: training, gpu_quota: 16, jobs: []}");
  ASSERT_TRUE(none) << none.error().text();
  EXPECT_TRUE(none->tenants[1].jobs.empty());
  const SpecResult serves = with_tenant("{name: lab, kind: batch}", "services.0.tenant=lab");
  ASSERT_TRUE(serves) << serves.error().text();
  EXPECT_TRUE(serves->tenants[1].jobs.empty()) << "its work is a service";
  EXPECT_TRUE(serves->tenants[0].jobs.empty()) << "production runs services";
}

TEST(ReadSpecJobs, ReportsMistakes) {
  const struct {
    const char* tenant;
    const char* message;
  } cases[] = {
      {"{name: a, jobs: [{name: x, work: -5m}]}", "tenants.a.jobs.x.work: found -5m, expected 1s"},
      {"{name: a, jobs: [{name: x, pods: 0}]}", "tenants.a.jobs.x.pods: found \"0\", expected 1 to 1024"},
      {"{name: a, jobs: [{name: x, pods: {min: 4, max: 2}}]}", "tenants.a.jobs.x.pods: min 4 is above max 2"},
      {"{name: a, jobs: [{name: x}, {name: x}]}", "\"x\" is the name of two classes of jobs"},
      {"{name: a, jobs: [{name: X y}]}", "expected a name that Kubernetes accepts"},
      {"{name: a, jobs: [{name: x, gpus_per_pod: 16}]}",
       "the largest machine has 8 GPUs, 8 fewer than the 16 of a pod; the nearest that is possible is gpus_per_pod: 8"},
      {"{name: a, gpu_limit: 12, jobs: [{name: x, pods: 2, gpus_per_pod: 8}]}",
       "tenants.a.jobs.x: a job needs 16 GPUs, 4 more than tenants.a.gpu_limit of 12"},
      {"{name: a, jobs: [{name: x, queue: b}]}", "queue"},
  };
  for (const auto& c : cases) {
    const SpecResult spec = with_tenant(c.tenant);
    ASSERT_FALSE(spec) << c.tenant;
    EXPECT_NE(spec.error().text().find(c.message), std::string::npos) << c.tenant << spec.error().text();
  }
  const SpecResult limited = with_tenant("{name: a, jobs: [{name: x, pods: 8, gpus_per_pod: 8}]}", "limits.gpus=32");
  ASSERT_FALSE(limited);
  EXPECT_NE(limited.error().text().find("a job needs 64 GPUs, 32 more than limits.gpus of 32"), std::string::npos)
      << limited.error().text();
}

}  // namespace
}  // namespace capstan::plan
