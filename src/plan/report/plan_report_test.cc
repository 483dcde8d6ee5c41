#include "plan/report/plan_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace capstan::plan {
namespace {

PlanSpec spec_of(std::initializer_list<const char*> services) {
  PlanSpec spec;
  for (const char* name : services) spec.services.push_back({.name = name});
  return spec;
}

constexpr const char* kProvedScenario = R"(name: tried
load: {generator: {rate: 2, input: 200, output: 50}, duration: 10m}
service:
  model: Llama-3.1-8B
  gpu: H100
  slo: {ttft: 1s}
  replicas: {min: 1, max: 4}
cluster:
  pools: [{name: h100, gpu_limit: 4, offerings: [{instance: p5.4xlarge}]}]
  existing: [{instance: p5.4xlarge, pool: h100}]
policies: [{name: own, scale: {policy: fixed, replicas: REPLICAS}, place: gang, provision: group}]
)";

std::string proved_scenario(const char* replicas) {
  std::string text = kProvedScenario;
  return text.replace(text.find("REPLICAS"), 8, replicas);
}

TEST(PlanReport, SimulatesEveryScalerOfThePlanWithItsHistory) {
  Plan made;
  made.spec.services.push_back({.name = "chat"});
  made.services.push_back({.service = "chat", .scaler = ScalerKind::capstan, .scenario = proved_scenario("1")});
  made.services[0].variants = {{.kind = ScalerKind::capstan, .scenario = proved_scenario("1")},
                               {.kind = ScalerKind::hpa, .refusal_reason = "it has no metric"},
                               {.kind = ScalerKind::constant, .scenario = proved_scenario("2")}};
  made.services[0].frontier = {{.short_fleet = "one replica", .scenario = proved_scenario("1")},
                               {.short_fleet = "not kept"},
                               {.short_fleet = "three replicas", .scenario = proved_scenario("3")}};
  const Result<experiment::Comparison> proof = prove_plan(made.spec.services[0], made.services[0], {});
  ASSERT_TRUE(proof) << proof.error().text();
  ASSERT_EQ(proof->results.size(), 3u);
  EXPECT_EQ(proof->results[0].policy, "Capstan, the plan") << "one replica costs less than two";
  EXPECT_EQ(proof->results[1].policy, "constant fleet");
  EXPECT_EQ(proof->results[2].policy, "three replicas");
  EXPECT_EQ(proof->results[1].replicas_peak, 2);
  ASSERT_TRUE(proof->results[1].history);
  EXPECT_EQ(proof->results[1].history->gangs.size(), 2u);
  EXPECT_TRUE(proof->catalog);
}

TEST(PlanReport, ThePlanComesFirstAndEachScalerHasItsOwnCommand) {
  Plan made;
  made.spec.services.push_back({.name = "chat"});
  // The plan is not the cheapest fleet under this seed.
  made.services.push_back({.service = "chat", .scaler = ScalerKind::capstan, .scenario = proved_scenario("2")});
  made.services[0].variants = {{.kind = ScalerKind::capstan, .scenario = proved_scenario("2")},
                               {.kind = ScalerKind::hpa, .scenario = proved_scenario("1")}};
  made.services[0].frontier = {{.short_fleet = "three replicas", .scenario = proved_scenario("3")}};
  const Result<experiment::Comparison> proof = prove_plan(made.spec.services[0], made.services[0], {});
  ASSERT_TRUE(proof) << proof.error().text();
  const PlanReportOptions options{.command = "capstan plan p.yaml --report r.html", .out = "out"};
  const auto json = nlohmann::json::parse(plan_report_json(made.spec.services[0], made.services[0], *proof, options));
  EXPECT_EQ(json["command"], "capstan plan p.yaml --report r.html");
  EXPECT_EQ(json["chosen"], "Capstan, the plan");
  EXPECT_EQ(json["marked"], "Capstan, the plan");
  EXPECT_TRUE(json["verdict"].get<std::string>().starts_with("The plan chooses Capstan: 100.0 % met for "));
  ASSERT_EQ(json["policies"].size(), 3u);
  const auto& chosen = json["policies"][0];
  EXPECT_EQ(chosen["policy"], "Capstan, the plan");
  EXPECT_EQ(chosen["command"], "capstan sim out/scenario-chat.yaml");
  EXPECT_EQ(chosen["name_in_scenario"], "own");
  EXPECT_EQ(json["policies"][1]["command"], "capstan sim out/scenarios/chat-hpa.yaml");
  EXPECT_FALSE(json["policies"][2].contains("command")) << "no file has the scenario of a fleet of the frontier";
  const auto unwritten =
      nlohmann::json::parse(plan_report_json(made.spec.services[0], made.services[0], *proof, {.command = "c"}));
  EXPECT_FALSE(unwritten["policies"][0].contains("command")) << "without --out there are no files";
}

TEST(PlanReport, AScenarioThatCannotBeReadIsAnError) {
  Plan made;
  made.spec.services.push_back({.name = "chat"});
  made.services.push_back({.service = "chat", .scenario = "name: [\n"});
  EXPECT_FALSE(prove_plan(made.spec.services[0], made.services[0], {}));
}

TEST(PlanReport, OneServiceGetsTheFileItself) {
  EXPECT_EQ(plan_report_path(spec_of({"chat"}), "chat", "out/plan.html"), "out/plan.html");
}

TEST(PlanReport, SeveralServicesGetAFileEach) {
  const PlanSpec spec = spec_of({"chat", "code"});
  EXPECT_EQ(plan_report_path(spec, "chat", "out/plan.html"), "out/plan-chat.html");
  EXPECT_EQ(plan_report_path(spec, "code", "plan"), "plan-code");
}

}  // namespace
}  // namespace capstan::plan
