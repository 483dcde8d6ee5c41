// Goal: a scenario may have batch jobs and no service. Its policies then place pods and buy nodes, and scale nothing.
#include <gtest/gtest.h>

#include "scenario/scenario.h"

namespace capstan::scenario {
namespace {

constexpr const char* kOnlyJobs = R"(name: only jobs
queues: [{name: batch, gpu_limit: 16}]
jobs:
  - {name: train, queue: batch, gpu: H100, gpus_per_pod: 8, work: 1h, arrivals: {count: 4}}
cluster:
  pools:
    - {name: h100, gpu_limit: 16, offerings: [{instance: p5.48xlarge}]}
policies:
  - {name: a, place: gang, provision: group}
)";

ScenarioResult only_jobs(std::vector<std::string> sets, std::optional<std::string> trace = {}) {
  return parse_scenario(kOnlyJobs, "s.yaml",
                        {.sets = std::move(sets), .trace = std::move(trace), .seed = {}, .policies = {}});
}

TEST(OnlyJobs, AScenarioNeedsNoService) {
  const ScenarioResult scenario = only_jobs({"services=~", "service=~", "load=~"});
  ASSERT_TRUE(scenario) << scenario.error().text();
  EXPECT_TRUE(scenario->has_only_jobs());
  EXPECT_FALSE(scenario->is_alone());
  EXPECT_TRUE(scenario->catalog->services.empty());
  EXPECT_EQ(scenario->jobs.size(), 1u);
  EXPECT_TRUE(scenario->policies.front().policies.scale.empty());
  EXPECT_TRUE(scenario->policies.front().policies.provision.has_value());
}

TEST(OnlyJobs, ErrorsNameTheirPlace) {
  const struct {
    const char* teaches;
    const char* set;
    const char* error;
  } rows[] = {
      {"a scaler has nothing to scale", "policies.a.scale=capstan",
       "policies: found scale, but the scenario has only jobs, expected only place and provision, or a service"},
      {"nothing can sleep", "policies.a.sleep={replicas: 1}", "policies: found sleep, but the scenario has only jobs"},
      {"a load belongs to a service", "load={profile: azure-hour}", "scenario lacks \"service\""},
      {"without jobs a service is needed", "jobs=~", "scenario lacks \"service\""},
      {"no lower bound is known for jobs", "bound=true", "but the lower bound is computed for one service"},
      {"nodes that no job can have", "cluster={}", "has no node and no pool offers one, so no job can ever run"},
      {"a job that no limit allows", "queues.batch.gpu_limit=4", "jobs.train: a job needs 8 GPUs"},
      {"an empty list of services is no choice of jobs alone", "services=[]", "found an empty list"},
  };
  for (const auto& row : rows) {
    const ScenarioResult scenario = only_jobs({row.set});
    const std::string found = scenario ? "possible" : scenario.error().text();
    EXPECT_NE(found.find(row.error), found.npos) << row.teaches << ": " << found;
  }
  const ScenarioResult traced = only_jobs({}, "x.csv");
  ASSERT_FALSE(traced);
  EXPECT_EQ(traced.error().text(),
            "--trace: the scenario has only jobs, expected a service, or --set jobs.NAME.trace={file: FILE}");
}

}  // namespace
}  // namespace capstan::scenario
