#include "plan/render/files.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

Plan plan_with_two_scalers() {
  Plan plan;
  plan.spec.services = {{.name = "chat"}};
  ServicePlan service{.service = "chat", .scaler = ScalerKind::hpa, .scenario = "name: hpa\n"};
  service.variants = {{.kind = ScalerKind::capstan, .scenario = "name: capstan\n"},
                      {.kind = ScalerKind::hpa, .scenario = "name: hpa\n"}};
  plan.services.push_back(std::move(service));
  Section section{.key = "replicas"};
  section.manifests = {{.file = "replicas/values/adapter.yaml", .body = Yaml::map({{"rules", 1}}), .is_object = false},
                       {.file = "nodes/h100.yaml", .body = Yaml::map({{"kind", "NodePool"}})}};
  plan.sections.push_back(std::move(section));
  return plan;
}

TEST(PlanFiles, HaveTheScenarioOfEachScaler) {
  const auto files = plan_files(plan_with_two_scalers());
  EXPECT_EQ(files.at("scenario-chat.yaml"), "name: hpa\n");
  EXPECT_EQ(files.at("scenarios/chat-capstan.yaml"), "name: capstan\n");
  EXPECT_FALSE(files.contains("scenarios/chat-hpa.yaml"));
}

TEST(PlanFiles, HaveTheScenarioOfEachWorseCondition) {
  Plan plan = plan_with_two_scalers();
  plan.services[0].robustness = {{.name = "1.5 times the load, with Capstan", .seed = 4, .scenario = "name: more\n"}};
  EXPECT_EQ(plan_files(plan).at("scenarios/chat-1.5-times-the-load-with-Capstan.yaml"), "name: more\n");
  const std::vector<PlanFile> list = list_plan_files(plan);
  EXPECT_EQ(list[list.size() - 4].kinds[0], "chat: 1.5 times the load, with Capstan, worst with --seed 4");
}

TEST(PlanFiles, NameTheMeasuredLoadFromTheirFolder) {
  Plan plan = plan_with_two_scalers();
  plan.services[0].measured_profile_text = "capstan-profile,1\n";
  plan.services[0].scenario = "load:\n  profile: load-chat.csv\n";
  plan.services[0].variants[0].scenario = "load:\n  profile: load-chat.csv\n";
  const auto files = plan_files(plan);
  EXPECT_EQ(files.at("load-chat.csv"), "capstan-profile,1\n");
  EXPECT_EQ(files.at("scenario-chat.yaml"), "load:\n  profile: load-chat.csv\n");
  EXPECT_EQ(files.at("scenarios/chat-capstan.yaml"), "load:\n  profile: ../load-chat.csv\n");
}

TEST(PlanFiles, HaveAScenarioOfTheAutoscalerFiles) {
  Plan plan = plan_with_two_scalers();
  plan.services[0].measured_profile_text = "capstan-profile,1\n";
  plan.services[0].comparison = "load:\n  profile: load-chat.csv\n";
  EXPECT_EQ(plan_files(plan).at("scenarios/chat-scalers.yaml"), "load:\n  profile: ../load-chat.csv\n");
  EXPECT_EQ(list_plan_files(plan).size(), plan_files(plan).size() - 1) << "the measured load is not listed";
}

TEST(PlanFiles, HaveTheKillSwitch) {
  EXPECT_TRUE(plan_files(plan_with_two_scalers()).at("kill-switch.sh").starts_with("#!/bin/sh\n"));
}

TEST(PlanFiles, AreListedWithTheirContent) {
  const Plan plan = plan_with_two_scalers();
  const std::vector<PlanFile> list = list_plan_files(plan);
  EXPECT_EQ(list.size(), plan_files(plan).size());
  EXPECT_EQ(list[0].kinds, std::vector<std::string>{"Helm values"});
  EXPECT_EQ(list[1].kinds, std::vector<std::string>{"NodePool"});
  EXPECT_EQ(list.back().path, "plan.md");
}

}  // namespace
}  // namespace capstan::plan
