#include "experiment/foresight/known_requests.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace capstan::experiment {
namespace {

constexpr const char* kOverATrace = R"(name: prefixes
load: {trace: TRACE}
service: {model: Llama-3.1-8B, gpu: H100, slo: {ttft: 1s}, replicas: {min: 1, max: 1}}
cluster: {existing: [{instance: p5.4xlarge}]}
policies: [{name: one, scale: {policy: fixed, replicas: 1}, place: gang, provision: none}]
)";

/// Makes a scenario with four requests whose prompts contain four different whole blocks.
scenario::Scenario over_a_trace(const std::string& path, bool prefix_cache) {
  std::ofstream(path) << R"({"timestamp": 0, "input_length": 1100, "output_length": 5, "hash_ids": [1, 2, 3]}
{"timestamp": 10, "input_length": 1600, "output_length": 5, "hash_ids": [1, 2, 7, 8]}
{"timestamp": 20, "input_length": 1024, "output_length": 5, "hash_ids": [1, 2]}
{"timestamp": 30, "input_length": 600, "output_length": 5, "hash_ids": [9, 10]}
)";
  std::string text = kOverATrace;
  text.replace(text.find("TRACE"), 5, path);
  const scenario::ScenarioResult scenario =
      scenario::parse_scenario(text, "s.yaml",
                               {.sets = {prefix_cache ? "service.engine_settings.prefix_cache=true"
                                                      : "service.engine_settings.prefix_cache=false"},
                                .trace = {},
                                .seed = {},
                                .policies = {}});
  EXPECT_TRUE(scenario) << scenario.error().text();
  return *scenario;
}

std::vector<std::int32_t> cached(bool prefix_cache) {
  const std::string path = testing::TempDir() + "prefixes.jsonl";
  const scenario::Scenario scenario = over_a_trace(path, prefix_cache);
  const Result<std::vector<bound::KnownRequest>> requests = known_requests(scenario, 1);
  EXPECT_TRUE(requests) << requests.error().text();
  std::vector<std::int32_t> tokens;
  for (const bound::KnownRequest& request : *requests) tokens.push_back(request.cached_tokens);
  EXPECT_EQ(shares_prefixes(scenario, *requests), prefix_cache);
  std::filesystem::remove(path);
  return tokens;
}

TEST(KnownRequests, WholeBlocksOfAnEarlierPromptAreCachedButNeverAllOfIt) {
  EXPECT_EQ(cached(true), (std::vector<std::int32_t>{0, 1024, 512, 0}));
  EXPECT_EQ(cached(false), (std::vector<std::int32_t>{0, 0, 0, 0}));
}

TEST(KnownRequests, MoreRequestsThanTheLimitAreAnError) {
  const std::string path = testing::TempDir() + "many.jsonl";
  const scenario::Scenario scenario = over_a_trace(path, true);
  EXPECT_TRUE(known_requests(scenario, 1, {.requests = 4, .blocks = 4}));
  const auto refused = [&](const KnownRequestLimits& most) { return known_requests(scenario, 1, most).error().text(); };
  EXPECT_NE(refused({.requests = 3, .blocks = 4}).find("bound: more than 3 requests"), std::string::npos);
  EXPECT_NE(refused({.requests = 4, .blocks = 2}).find("bound: more than 2 blocks of prompts"), std::string::npos);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace capstan::experiment
