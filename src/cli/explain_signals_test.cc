#include "cli/explain_signals.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

namespace capstan::cli {
namespace {

/// Writes a page of metrics to a file that is removed at the end.
struct PageFile {
  explicit PageFile(const std::string& text) {
    path = std::filesystem::temp_directory_path() / ("capstan-page-" + std::to_string(getpid()));
    std::ofstream(path) << text;
  }
  ~PageFile() { std::filesystem::remove(path); }
  std::filesystem::path path;
};

constexpr const char* kPage =
    "vllm:num_requests_waiting{model_name=\"llama\"} 12\n"
    "vllm:num_requests_running{model_name=\"llama\"} 64\n"
    "vllm:kv_cache_usage_perc{model_name=\"llama\"} 0.31\n";

TEST(ExplainSignals, APageOfAFileShowsItsPathAndItsBottleneck) {
  const PageFile file(kPage);
  const auto gathered = gather_from_page({.page = file.path, .model = "llama", .max_sequences = 64});
  ASSERT_TRUE(gathered.has_value());
  const std::string text = signals_text(*gathered);
  EXPECT_TRUE(text.contains("✓ names      vllm, all needed metrics\n")) << text;
  EXPECT_TRUE(text.contains("no signal is lost\n")) << text;
  EXPECT_TRUE(text.contains("bottleneck: batch limit: 64 of 64 sequences run, 12 wait")) << text;
  const auto json = nlohmann::json::parse(signals_json(*gathered));
  EXPECT_EQ(json["broken"], nullptr);
  EXPECT_EQ(json["bottleneck"]["part"], "batch limit");
  EXPECT_EQ(json["stages"][0]["stage"], "port");
}

TEST(ExplainSignals, AnotherModelIsFoundOnThePage) {
  const PageFile file(kPage);
  const auto gathered = gather_from_page({.page = file.path, .model = "qwen"});
  ASSERT_TRUE(gathered.has_value());
  EXPECT_EQ(nlohmann::json::parse(signals_json(*gathered))["broken"], "model");
}

TEST(ExplainSignals, AFileThatDoesNotExistIsAnError) {
  const auto gathered = gather_from_page({.page = "/nowhere/page"});
  ASSERT_FALSE(gathered.has_value());
  EXPECT_TRUE(gathered.error().text().contains("/nowhere/page: cannot be read"));
}

TEST(ExplainSignals, TheReplicaWithTheLongestQueueIsDiagnosed) {
  const std::vector<PodLoad> loads = {
      {"a", {.running = 9, .waiting = 0}}, {"b", {.running = 2, .waiting = 7}}, {"c", {}}};
  EXPECT_EQ(slowest(loads)->pod, "b");
  EXPECT_EQ(slowest({}), nullptr);
}

}  // namespace
}  // namespace capstan::cli
