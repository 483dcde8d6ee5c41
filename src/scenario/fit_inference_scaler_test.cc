#include "scenario/fit_inference_scaler.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace capstan::scenario {
namespace {

constexpr std::string_view kFittedScenario = R"(name: fitted
load: {generator: {rate: 1, input: 500, output: 100}, duration: 10m}
service:
  model: Llama-3.1-8B
  gpu: H100
  slo: {ttft: 2s}
  replicas: {min: 1, max: 8}
cluster:
  zones: [a]
  pools: [{name: h100, gpu_limit: 8, offerings: [{instance: a3-highgpu-1g, usd_per_hour: 11.0612}]}]
policies: [{name: own, scale: {policy: capstan}, place: gang, provision: group}]
)";

std::string fitted_manifest(const std::string& model, const std::string& slo, const std::string& roles) {
  return fmt::format("kind: InferenceScaler\nspec: {{model: {}, slo: {}, roles: {}}}\n", model, slo, roles);
}
const std::string kOneRole = "[{variants: [{targetRef: {kind: Deployment, name: a}, minReplicas: 2, maxReplicas: 4}]}]";

TEST(FitInferenceScaler, AppliesItsBoundsToItsPolicyOnly) {
  const ScenarioResult scenario = parse_scenario(kFittedScenario, "s.yaml");
  ASSERT_TRUE(scenario) << scenario.error().text();
  const auto node =
      manifest::parse(fitted_manifest("meta-llama/Llama-3.1-8B-Instruct", "{ttft: 2s}", kOneRole), "isc.yaml");
  manifest::ErrorList errors;
  const auto fitted = fit_inference_scaler(*node, scenario->endpoint(), *scenario, errors);
  ASSERT_TRUE(fitted) << errors.error->text();
  ASSERT_EQ(fitted->bounds.size(), 1u);
  EXPECT_EQ(fitted->bounds.front().min, 2);
  EXPECT_EQ(fitted->bounds.front().max, 4);
  EXPECT_EQ(scenario->catalog->services.front().max_replicas, 8);
}

TEST(FitInferenceScaler, NamesTheDifferencesFromTheScenario) {
  const ScenarioResult scenario = parse_scenario(kFittedScenario, "s.yaml");
  ASSERT_TRUE(scenario);
  const std::pair<std::string, std::string> cases[] = {
      {fitted_manifest("Llama-3.3-70B", "{ttft: 2s}", kOneRole),
       "spec.model: found Llama-3.3-70B, expected Llama-3.1-8B"},
      {fitted_manifest("Llama-3.1-8B", "{ttft: 1s}", kOneRole), "spec.slo.ttft: found 1s, expected 2s"},
      {fitted_manifest("Llama-3.1-8B", "{ttft: 2s, tpot: 50ms}", kOneRole), "found 50ms, expected no bound"},
      {fitted_manifest("Llama-3.1-8B", "{ttft: 2s, attainment: 95%}", kOneRole), "found 95 %, expected 99 %"},
      {fitted_manifest("Llama-3.1-8B", "{ttft: 2s}",
                       "[{role: decode, variants: [{targetRef: {name: a}, maxReplicas: 1}]}]"),
       "expected one role with one variant"},
  };
  for (const auto& [text, message] : cases) {
    const auto node = manifest::parse(text, "isc.yaml");
    manifest::ErrorList errors;
    EXPECT_FALSE(fit_inference_scaler(*node, scenario->endpoint(), *scenario, errors));
    ASSERT_FALSE(errors.ok()) << text;
    EXPECT_NE(errors.error->text().find(message), std::string::npos) << errors.error->text();
  }
}

TEST(FitInferenceScaler, IsFoundOnlyIfItIsTheOnlyAutoscaler) {
  const auto find = [](const std::string& text) {
    return find_inference_scaler(*manifest::parse_documents(text, "a.yaml")) != nullptr;
  };
  EXPECT_TRUE(find("kind: Deployment\n---\nkind: InferenceScaler\n"));
  EXPECT_FALSE(find("kind: Deployment\n"));
  EXPECT_FALSE(find("kind: InferenceScaler\n---\nkind: ScaledObject\n"));
  EXPECT_FALSE(find("kind: InferenceScaler\n---\nkind: InferenceScaler\n"));
}

TEST(FitInferenceScaler, ReadsTheExamplesOfThisProject) {
  const std::string file = CAPSTAN_SOURCE_DIR "/deploy/examples/vllm-deployment.yaml";
  std::string text(kFittedScenario);
  const auto replace = [&](std::string_view from, std::string_view to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace("Llama-3.1-8B", "Llama-3.3-70B");
  replace("  gpu: H100", "  gpu: H100\n  tensor_parallel: 4");
  replace("{ttft: 2s}", "{ttft: 2s, tpot: 80ms, attainment: 99%}");
  replace("{policy: capstan}", fmt::format("{{manifest: {}}}", file));
  replace("gpu_limit: 8, offerings: [{instance: a3-highgpu-1g, usd_per_hour: 11.0612}]",
          "gpu_limit: 32, offerings: [{instance: a3-highgpu-4g, usd_per_hour: 44.245}]");
  const ScenarioResult scenario = parse_scenario(text, "s.yaml");
  ASSERT_TRUE(scenario) << scenario.error().text();
  EXPECT_TRUE(std::holds_alternative<decide::scale::Capstan>(scenario->policies.front().policies.scale.front()));
  EXPECT_EQ(scenario->policies.front().bounds.at(0)->replicas.max, 8);
}

}  // namespace
}  // namespace capstan::scenario
