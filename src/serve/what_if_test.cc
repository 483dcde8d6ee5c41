#include "serve/what_if.h"

#include <gtest/gtest.h>

#include "manifest/path.h"
#include "serve/testing.h"

namespace capstan::serve {
namespace {

scenario::Scenario read(const std::string& text, const std::vector<std::string>& sets = {}) {
  scenario::ScenarioResult scenario =
      scenario::parse_scenario(text, "s.yaml", {.sets = sets, .trace = {}, .seed = {}, .policies = {}});
  EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().text());
  return scenario ? *std::move(scenario) : scenario::Scenario{};
}

std::vector<std::string> sets_of(const WhatIf& change, const std::string& text) {
  const Result<manifest::Node> root = manifest::parse(text, "s.yaml");
  EXPECT_TRUE(root);
  return what_if_sets(change, read(text), *root);
}

TEST(WhatIf, ReadsAChangeWithinItsLimits) {
  const WhatIfLimits limits{.has_spot = true, .has_minimum = true, .min_replicas = 1, .max_replicas = 8};
  const auto parse = [&](const char* json) -> std::string {
    const Result<WhatIf> change = parse_what_if(json, limits);
    return change ? "ok" : change.error().text();
  };
  const Result<WhatIf> all = parse_what_if(R"({"load_factor": 2, "price_factor": 0.5,
      "spot_interruptions_percent_per_hour": 10, "min_replicas": 3})",
                                           limits);
  ASSERT_TRUE(all);
  EXPECT_EQ(*all, (WhatIf{2.0, 0.5, 10.0, 3}));
  EXPECT_EQ(parse_what_if("{}", limits), WhatIf{});
  EXPECT_EQ(parse_what_if(R"({"load_factor": null})", limits), WhatIf{});
  const std::vector<std::pair<const char*, const char*>> rows = {
      {"", "the body is no JSON object"},
      {"[]", "the body is no JSON object"},
      {"{\"load_factor\": 1", "the body is no JSON object"},
      {R"({"load_factor": 11})", "load_factor is 11, expected a number from 0.1 to 10"},
      {R"({"load_factor": 0})", "load_factor is 0, expected a number from 0.1 to 10"},
      {R"({"load_factor": 1e999})", "the body is no JSON object"},
      {R"({"load_factor": "2"})", "load_factor is no number, expected a number from 0.1 to 10"},
      {R"({"price_factor": -1})", "price_factor is -1, expected a number from 0.1 to 10"},
      {R"({"spot_interruptions_percent_per_hour": 1001})",
       "spot_interruptions_percent_per_hour is 1001, expected a number from 0 to 1000"},
      {R"({"min_replicas": 9})", "min_replicas is 9, expected a number from 0 to 8"},
      {R"({"min_replicas": 1.5})", "min_replicas is 1.5, expected a whole number"},
      {R"({"set": "load.trace=/etc/passwd"})",
       "an unknown key, expected load_factor, price_factor, spot_interruptions_percent_per_hour or min_replicas"},
  };
  for (const auto& [json, expected] : rows) EXPECT_EQ(parse(json), expected) << json;
  EXPECT_EQ(parse_what_if(R"({"min_replicas": 1})", {.max_replicas = 8}).error().text(),
            "min_replicas is given, but the scenario has several kinds of replicas");
}

TEST(WhatIf, BecomesAssignmentsOfSet) {
  EXPECT_EQ(sets_of({}, kSmallScenario), std::vector<std::string>{});
  EXPECT_EQ(sets_of({.load_factor = 2}, kSmallScenario), std::vector<std::string>{"load.scale=3"});
  EXPECT_EQ(
      sets_of({.price_factor = 0.5}, kSmallScenario),
      (std::vector<std::string>{
          "cluster.pools.0.offerings.0.usd_per_hour=5.000000", "cluster.pools.0.offerings.1.usd_per_hour=1.250000",
          "cluster.pools.1.offerings.0.usd_per_hour=10.000000", "cluster.existing.0.usd_per_hour=5.000000"}));
  EXPECT_EQ(sets_of({.spot_interruptions_percent_per_hour = 12.5}, kSmallScenario),
            std::vector<std::string>{"cluster.provider.spot_interruptions_per_hour=12.5000%"});
  EXPECT_EQ(sets_of({.min_replicas = 2}, kSmallScenario), std::vector<std::string>{"service.replicas.min=2"});
  EXPECT_EQ(sets_of({.min_replicas = 4}, kSmallScenario),
            (std::vector<std::string>{"service.replicas.min=4", "service.replicas.initial=4"}));
}

TEST(WhatIf, TheNodesOfAFileHaveThePriceOfTheirEntry) {
  const std::string path = CAPSTAN_SOURCE_DIR "/scenarios/trace-on-its-nodes.yaml";
  const Result<manifest::Node> root = manifest::parse_file(path);
  const scenario::ScenarioResult scenario =
      scenario::read_scenario(path, {.sets = {}, .trace = {}, .seed = {}, .policies = {}});
  ASSERT_TRUE(root && scenario);
  const std::vector<std::string> sets = what_if_sets({.price_factor = 2}, *scenario, *root);
  ASSERT_EQ(sets.size(), 2u);
  EXPECT_TRUE(sets[0].starts_with("cluster.existing.0.usd_per_hour=")) << sets[0];
  EXPECT_EQ(sets[1], "cluster.existing.1.usd_per_hour=4.000000");
}

TEST(WhatIf, TheAssignmentsHaveTheirEffect) {
  const WhatIf change{
      .load_factor = 2, .price_factor = 0.5, .spot_interruptions_percent_per_hour = 0, .min_replicas = 4};
  const scenario::Scenario before = read(kSmallScenario);
  const scenario::Scenario after = read(kSmallScenario, sets_of(change, kSmallScenario));
  EXPECT_EQ(after.endpoint().load.scale, 2 * before.endpoint().load.scale);
  ASSERT_EQ(after.catalog->offerings.size(), before.catalog->offerings.size());
  for (std::size_t i = 0; i < after.catalog->offerings.size(); ++i) {
    EXPECT_EQ(after.catalog->offerings[i].price_per_hour.count * 2, before.catalog->offerings[i].price_per_hour.count);
  }
  EXPECT_NE(before.cluster.provider.spot_interruptions_per_million_hours, 0);
  EXPECT_EQ(after.cluster.provider.spot_interruptions_per_million_hours, 0);
  EXPECT_EQ(after.service().min_replicas, 4);
}

TEST(WhatIf, JobsAloneHaveNoMinimum) {
  const WhatIfLimits limits = what_if_limits(read(R"(name: jobs
jobs: [{name: train, gpu: H100, work: 1h, arrivals: {count: 1}}]
cluster: {existing: [{instance: p5.48xlarge}]}
policies: [{name: a, place: gang, provision: none}])"));
  EXPECT_FALSE(limits.has_minimum);
  EXPECT_EQ(limits.max_replicas, 0);
}

TEST(WhatIf, TheLimitsAreThoseOfTheScenario) {
  const WhatIfLimits limits = what_if_limits(read(kSmallScenario));
  EXPECT_TRUE(limits.has_spot);
  EXPECT_EQ(limits.spot_interruptions_percent_per_hour, 5);
  EXPECT_TRUE(limits.has_minimum);
  EXPECT_EQ(limits.min_replicas, 1);
  EXPECT_EQ(limits.max_replicas, 8);
}

}  // namespace
}  // namespace capstan::serve
