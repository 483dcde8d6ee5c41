#include "experiment/run/refusals.h"

#include <gtest/gtest.h>

#include "experiment/run/prepare.h"
#include "scenario/scenario.h"

namespace capstan::experiment {
namespace {

constexpr std::size_t kScale = 0, kBind = 1;

sim::ClusterMeter meter_of(std::size_t kind, sim::ActionCounts counts, std::int64_t spread = 0, std::int64_t full = 0) {
  sim::ClusterMeter meter;
  meter.actions[kind] = counts;
  meter.binds_refused_spread = spread;
  meter.binds_refused_full = full;
  return meter;
}

TEST(Refusals, ManyRefusalsGiveAWarning) {
  const struct {
    const char* teaches;
    sim::ClusterMeter meter;
    const char* warning;
  } rows[] = {
      {"none", meter_of(kBind, {100, 0}), ""},
      {"a few are the world's changes", meter_of(kBind, {9, 9}), ""},
      {"so are few of many", meter_of(kBind, {1000, 99}), ""},
      {"a tenth is not", meter_of(kBind, {1000, 100}, 100),
       "100 of 1,000 bindings were refused: a replica's pods would have stood in several zones, which "
       "cluster.enforce_together refuses"},
      {"the cause that most have is told", meter_of(kBind, {2710, 2707}, 7, 2700),
       "2,707 of 2,710 bindings were refused: the nodes had no room for the pods"},
      {"neither of the two", meter_of(kBind, {20, 20}, 3, 3),
       "20 of 20 bindings were refused: the pods or the nodes were gone, or bound and not ready"},
      {"another action", meter_of(kScale, {12, 10}),
       "10 of 12 scalings were refused: the object was gone, or its state no longer allowed the action"},
  };
  for (const auto& row : rows) {
    const std::vector<std::string> warnings = refusal_warnings(row.meter, {{"", "zone"}});
    EXPECT_EQ(warnings.empty() ? "" : warnings.front(), row.warning) << row.teaches;
    EXPECT_LE(warnings.size(), 1u) << row.teaches;
  }
}

TEST(Refusals, WarningsNameTheServicesAndTheJobs) {
  sim::ClusterMeter meter = meter_of(kBind, {1000, 300}, 0, 300);
  meter.refused_by_user[kBind] = {40, 0, 250, 4, 6};
  meter.actions[kScale] = {12, 10};
  meter.refused_by_user[kScale] = {0, 10};
  meter.replicas_spread = {0, 1, 3, 0};
  const std::vector<NamedUser> users = {
      {"chat", "node"}, {"code", "zone"}, {"large", "rack"}, {"small", "node"}, {"eval", "node"}};
  const std::vector<std::string> warnings = refusal_warnings(meter, users);
  ASSERT_EQ(warnings.size(), 4u);
  EXPECT_EQ(warnings[0],
            "10 of 12 scalings were refused: the object was gone, or its state no longer allowed the action; 10 of "
            "them of code");
  EXPECT_EQ(warnings[1],
            "300 of 1,000 bindings were refused: the nodes had no room for the pods; 250 of them of large, 40 of chat, "
            "6 of eval");
  EXPECT_EQ(warnings[2].substr(0, 78),
            "large: the pods of 3 replicas stood in several racks: the placement does not k");
  EXPECT_EQ(warnings[3].substr(0, 58), "code: the pods of 1 replica stood in several zones: the pl");
}

/// The replica has four pods with one GPU each. First fit binds two of them in zone a, which is then full, and two in
/// zone b.
constexpr const char* kTwoZones = R"(name: two zones
load: {generator: {rate: 1, input: 500, output: 100}, duration: 5m}
service:
  model: Llama-3.3-70B
  gpu: H100
  tensor_parallel: 4
  pods_per_replica: 4
  together: zone
  slo: {ttft: 5s}
  replicas: {min: 1, max: 1, ready: false}
cluster:
  zones: [a, b]
  existing:
    - {instance: p5.4xlarge, zone: a, count: 2}
    - {instance: p5.4xlarge, zone: b, count: 6}
policies:
  - {name: first fit, scale: fixed, place: first_fit, provision: none}
  - {name: gang, scale: fixed, place: gang, provision: none}
)";

TEST(Refusals, APlacementWithoutGangsGetsAWarning) {
  const struct {
    const char* teaches;
    const char* policy;
    std::vector<std::string> sets;
    bool serves;
    const char* warning;  ///< beginning of the warning
  } rows[] = {
      {"it knows no zone, and nothing refuses its bindings",
       "first fit",
       {},
       true,
       "the pods of 1 replica stood in several zones: the placement does not know service.together"},
      {"if they are refused nevertheless, its row says so",
       "first fit",
       {"cluster.enforce_together=true"},
       false,
       "1,200 of 1,200 bindings were refused: a replica's pods would have stood in several zones"},
      {"one that knows it never asks", "gang", {}, true, ""},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.teaches);
    const scenario::ScenarioResult scenario = scenario::parse_scenario(
        kTwoZones, "s.yaml", {.sets = row.sets, .trace = {}, .seed = {}, .policies = {row.policy}});
    ASSERT_TRUE(scenario) << scenario.error().text();
    const Result<RunResult> result = run(*scenario, scenario->policies.front(), 1);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->requests.met > 0, row.serves);
    const std::string warning = result->warnings.empty() ? "" : result->warnings.front();
    EXPECT_EQ(warning.substr(0, std::string_view(row.warning).size()), row.warning) << warning;
    EXPECT_EQ(warning.empty(), std::string_view(row.warning).empty()) << warning;
  }
}

TEST(Refusals, AServiceThatSharesTheClusterIsNamed) {
  const scenario::ScenarioResult scenario = scenario::parse_scenario(
      kTwoZones, "s.yaml",
      {.sets = {"jobs=[{name: eval, gpu: H100, pods: 1, gpus_per_pod: 1, work: 1m, arrivals: {count: 1}}]"},
       .trace = {},
       .seed = {},
       .policies = {"first fit"}});
  ASSERT_TRUE(scenario) << scenario.error().text();
  const Result<RunResult> result = run(*scenario, scenario->policies.front(), 1);
  ASSERT_TRUE(result);
  ASSERT_EQ(result->warnings.size(), 1u);
  EXPECT_TRUE(result->warnings.front().starts_with("service: the pods of 1 replica stood in several zones"))
      << result->warnings.front();
}

}  // namespace
}  // namespace capstan::experiment
