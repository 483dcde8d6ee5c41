#include "scenario/nearest_model.h"

#include <gtest/gtest.h>

#include <vector>

#include "scenario/scenario.h"

namespace capstan::scenario {
namespace {

TEST(NearestModel, IsTheMostSimilarNameOrSize) {
  const std::vector<std::string_view> models = {"Llama-3.1-8B", "Llama-3.3-70B", "Qwen3-14B"};
  EXPECT_EQ(nearest_model_words("meta-llama/Llama-3.1-9B", models), " (did you mean Llama-3.1-8B?)");
  EXPECT_EQ(nearest_model_words("gemma-12b", models), "; the nearest by size is Qwen3-14B");
  EXPECT_EQ(nearest_model_words("gemma", models),
            "; its name states no size, and the largest in the table is Llama-3.3-70B");
  EXPECT_EQ(nearest_model_words("gemma", {}), "");
}

TEST(NearestModel, IsNamedByAScenario) {
  constexpr const char* kUnknownModel = R"(name: a
load: {generator: {rate: 2, input: 200, output: 50}, duration: 5m}
service: {model: Llama-3.1-9B, gpu: H100, slo: {ttft: 1s}, replicas: {min: 1, max: 4}}
cluster: {pools: [{name: h100, offerings: [{instance: p5.4xlarge}]}]}
policies: [{name: a, scale: queue_hpa, place: gang, provision: group}]
)";
  const ScenarioResult scenario = parse_scenario(kUnknownModel, "s.yaml");
  ASSERT_FALSE(scenario);
  EXPECT_TRUE(
      scenario.error().text().contains("(did you mean Llama-3.1-8B?); for another model, state a table of your "
                                       "own step times with step_times"))
      << scenario.error().text();
}

}  // namespace
}  // namespace capstan::scenario
