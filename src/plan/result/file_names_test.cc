#include "plan/result/file_names.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

TEST(FileNames, TheChosenScalerHasTheScenarioOfTheService) {
  const ServicePlan service{.service = "chat", .scaler = ScalerKind::hpa};
  EXPECT_EQ(scenario_file(service, ScalerKind::hpa), "scenario-chat.yaml");
  EXPECT_EQ(scenario_file(service, ScalerKind::capstan), "scenarios/chat-capstan.yaml");
  EXPECT_EQ(scenario_file(service, ScalerKind::scaled_object), "scenarios/chat-keda.yaml");
  EXPECT_EQ(scenario_file(service, ScalerKind::constant), "scenarios/chat-constant.yaml");
  EXPECT_EQ(comparison_file(service), "scenarios/chat-scalers.yaml");
}

TEST(FileNames, AWorseConditionIsNamedWithoutSpaces) {
  const ServicePlan service{.service = "chat"};
  EXPECT_EQ(worse_scenario_file(service, {.name = "zone us-east-1a lost"}), "scenarios/chat-zone-us-east-1a-lost.yaml");
}

}  // namespace
}  // namespace capstan::plan
