#include "plan/sections/scaler_setup.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "plan/sections/test_services.h"

namespace capstan::plan {
namespace {

/// Returns the chosen commands of one step.
std::vector<std::string> chosen_commands(const Section& section, ApplyStep step) {
  std::vector<std::string> commands;
  for (const ApplyCommand& command : section.apply) {
    const bool is_applied = command.alternative.choice.empty() || command.alternative.is_chosen;
    if (command.step == step && is_applied) commands.push_back(command.command);
  }
  return commands;
}

TEST(ScalerSetup, AppliesTheScalerThatThePlanChose) {
  struct Row {
    ScalerKind kind;
    std::string option, file;
  };
  for (const Row& row : {Row{ScalerKind::capstan, "capstan", "replicas/capstan/chat.yaml"},
                         Row{ScalerKind::scaled_object, "keda", "replicas/keda/chat.yaml"},
                         Row{ScalerKind::hpa, "hpa", "replicas/hpa/chat.yaml"}}) {
    testing::PlanSample sample = testing::chat_sample();
    sample.services.front().scaler = row.kind;
    EXPECT_EQ(scaler_option(sample.services.front()), row.option);
    const Section section = replicas_section(sample.facts());
    const std::vector<std::string> commands = chosen_commands(section, ApplyStep::scaler);
    ASSERT_EQ(commands.size(), row.option == "capstan" ? 3u : 2u);
    EXPECT_EQ(commands[0], "kubectl diff --filename=" + row.file + " >/dev/null 2>&1 || sh kill-switch.sh save");
    EXPECT_EQ(commands[1], "kubectl apply -f " + row.file);
    EXPECT_EQ(chosen_commands(section, ApplyStep::metrics).size(), row.option == "hpa" ? 2u : 1u);
    std::set<std::string> chosen;
    for (const Manifest& manifest : section.manifests) {
      if (manifest.alternative.is_chosen && manifest.is_object) chosen.insert(manifest.file);
    }
    EXPECT_EQ(chosen, std::set<std::string>{row.file});
  }
}

TEST(ScalerSetup, AConstantFleetGetsNoAutoscaler) {
  testing::PlanSample sample = testing::chat_sample();
  sample.services.front().scaler = ScalerKind::constant;
  const Section section = replicas_section(sample.facts());
  for (const Manifest& manifest : section.manifests) {
    EXPECT_FALSE(manifest.alternative.is_chosen) << manifest.file;
  }
  std::vector<std::string> optional;
  for (const ApplyCommand& command : section.apply) {
    EXPECT_FALSE(command.alternative.is_chosen) << command.command;
    if (command.is_optional) optional.push_back(command.command);
  }
  EXPECT_EQ(optional, std::vector<std::string>{"kubectl apply -f replicas/keda/chat.yaml"});
}

TEST(ScalerSetup, AConstantFleetNamesTheScalerForAHigherLoad) {
  ServicePlan service{.service = "chat", .roles = {{}}, .mean_load = {.peak_per_s = 9.5}};
  service.scaler = ScalerKind::constant;
  const auto trial = [](std::int64_t usd) {
    return Trial{.micro_usd = usd * 1'000'000, .simulated = std::chrono::hours(1)};
  };
  service.variants = {
      {.kind = ScalerKind::capstan, .roles = {{.minimum = 2, .maximum = 4}}, .seeds = {trial(9)}},
      {.kind = ScalerKind::scaled_object, .roles = {{.minimum = 2, .maximum = 5}}, .seeds = {trial(7)}}};
  EXPECT_EQ(scaler_option(service), "");
  EXPECT_EQ(spare_scaler_option(service), "keda");
  EXPECT_EQ(
      no_scaler_words(service),
      "none: spec.replicas of the workload states the size. If the load exceeds that of its busiest 5 minutes, 9.50 "
      "requests/s, apply the ScaledObject with 2 to 5 replicas (7.00 USD/h on this load, simulated; more load was not "
      "simulated with it); the comment at spec.replicas says how");
  service.variants[1] = {.kind = ScalerKind::scaled_object, .refusal_reason = "no metrics"};
  EXPECT_EQ(spare_scaler_option(service), "capstan") << "a ScaledObject that was not simulated";
  EXPECT_TRUE(no_scaler_words(service).contains("the InferenceScaler with 2 to 4 replicas (9.00 USD/h on this load"));
  service.scaler = ScalerKind::hpa;
  EXPECT_EQ(no_scaler_words(service), "");
}

TEST(ScalerSetup, TheFleetPolicyIsOptionalIfOnlyAConstantFleetMayNeedIt) {
  testing::PlanSample sample = testing::chat_sample();
  ServicePlan& chat = sample.services.front();
  chat.scaler = ScalerKind::constant;
  chat.variants = {{.kind = ScalerKind::scaled_object, .refusal_reason = "no metrics"}};
  EXPECT_TRUE(is_spare_scaler(sample.facts(), "capstan"));
  EXPECT_FALSE(is_spare_scaler(sample.facts(), "keda"));
  sample.services.push_back(chat);
  sample.services.back().scaler = ScalerKind::capstan;
  EXPECT_FALSE(is_spare_scaler(sample.facts(), "capstan")) << "another service uses it";
}

TEST(ScalerSetup, EachRoleHasAFileOfItsOwn) {
  testing::PlanSample sample = testing::disaggregated_sample();
  sample.services.front().scaler = ScalerKind::hpa;
  EXPECT_EQ(chosen_commands(replicas_section(sample.facts()), ApplyStep::scaler).back(),
            "kubectl apply -f replicas/hpa/chat-prefill.yaml -f replicas/hpa/chat-decode.yaml");
}

TEST(ScalerSetup, GkeHasAnExporterOfItsOwn) {
  testing::PlanSample sample = testing::chat_sample();
  sample.spec.cluster.cloud = Cloud::gcp;
  const Section section = replicas_section(sample.facts());
  EXPECT_EQ(testing::find_body(section, "replicas/values/gpu-operator.yaml"), nullptr);
  EXPECT_NE(testing::find_body(section, "replicas/values/dcgm-exporter.yaml"), nullptr);
}

}  // namespace
}  // namespace capstan::plan
