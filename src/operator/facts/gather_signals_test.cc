#include "operator/facts/gather_signals.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

namespace capstan::op {
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

constexpr const char* kVllmPage =
    "vllm:num_requests_waiting{model_name=\"llama\"} 12\n"
    "vllm:num_requests_running{model_name=\"llama\"} 64\n"
    "vllm:kv_cache_usage_perc{model_name=\"llama\"} 0.31\n";

TEST(GatherSignals, APageOfAFileShowsItsPathAndItsBottleneck) {
  const PageFile file(kVllmPage);
  const auto gathered = gather_from_page({.page = file.path, .model = "llama", .max_sequences = 64});
  ASSERT_TRUE(gathered.has_value());
  const std::string text = explain::signals_text(*gathered);
  EXPECT_TRUE(text.contains("✓ names      vllm, all needed metrics\n")) << text;
  EXPECT_TRUE(text.contains("no signal is lost\n")) << text;
  EXPECT_TRUE(text.contains("bottleneck: batch limit: 64 of 64 sequences run, 12 wait")) << text;
  const auto json = nlohmann::json::parse(explain::signals_json(*gathered));
  EXPECT_EQ(json["broken"], nullptr);
  EXPECT_EQ(json["bottleneck"]["part"], "batch limit");
  EXPECT_EQ(json["stages"][0]["stage"], "port");
}

TEST(GatherSignals, AnotherModelIsFoundOnThePage) {
  const PageFile file(kVllmPage);
  const auto gathered = gather_from_page({.page = file.path, .model = "qwen"});
  ASSERT_TRUE(gathered.has_value());
  EXPECT_EQ(nlohmann::json::parse(explain::signals_json(*gathered))["broken"], "model");
}

TEST(GatherSignals, AFileThatDoesNotExistIsAnError) {
  const auto gathered = gather_from_page({.page = "/nowhere/page"});
  ASSERT_FALSE(gathered.has_value());
  EXPECT_TRUE(gathered.error().text().contains("/nowhere/page: cannot be read"));
}

}  // namespace
}  // namespace capstan::op
