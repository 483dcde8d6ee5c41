#include "cli/explain_signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace capstan::cli {
namespace {

TEST(ExplainSignalsCommand, NeedsAServiceOrAPage) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(explain_signals({}), kUsage);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "capstan explain signals: nothing is named, expected a service, --page or --url\n");
}

TEST(ExplainSignalsCommand, EndsWithTwoIfASignalIsLost) {
  const auto page = std::filesystem::temp_directory_path() / ("capstan-signals-" + std::to_string(::getpid()));
  std::ofstream(page) << "vllm:num_requests_waiting{model_name=\"llama\"} 12\n"
                         "vllm:num_requests_running{model_name=\"llama\"} 64\n"
                         "vllm:kv_cache_usage_perc{model_name=\"llama\"} 0.31\n";
  ExplainSignalsArguments arguments;
  arguments.question.page = page;
  arguments.question.model = "llama";
  testing::internal::CaptureStdout();
  EXPECT_EQ(explain_signals(arguments), kOk);
  EXPECT_TRUE(testing::internal::GetCapturedStdout().contains("no signal is lost\n"));
  arguments.question.model = "qwen";
  arguments.output = Output::json;
  testing::internal::CaptureStdout();
  EXPECT_EQ(explain_signals(arguments), kFindings);
  EXPECT_TRUE(testing::internal::GetCapturedStdout().contains("\"broken\": \"model\""));
  std::filesystem::remove(page);
}

}  // namespace
}  // namespace capstan::cli
