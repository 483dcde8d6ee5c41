#include "cli/reason.h"

#include <gtest/gtest.h>

#include <string>

namespace capstan::cli {
namespace {

TEST(ExplainReason, PrintsTheHelpOfACodeInEitherSpelling) {
  for (const char* code : {"queue_limit", "QueueLimit"}) {
    testing::internal::CaptureStdout();
    EXPECT_EQ(explain_reason({.code = code}), kOk);
    const std::string text = testing::internal::GetCapturedStdout();
    EXPECT_TRUE(text.starts_with("queue_limit\n")) << text;
    EXPECT_NE(text.find("What to do: `kubectl get capq`"), text.npos) << text;
  }
}

TEST(ExplainReason, JsonHasTheSameParts) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(explain_reason({.code = "halted", .output = Output::json}), kOk);
  const std::string text = testing::internal::GetCapturedStdout();
  for (const char* key : {"\"format_version\": 1", "\"code\": \"halted\"", "\"meaning\"", "\"causes\"", "\"remedy\""}) {
    EXPECT_NE(text.find(key), text.npos) << key;
  }
}

TEST(ExplainReason, AnUnknownCodeIsAUsageErrorWithTheCodesThatMayBeMeant) {
  struct Row {
    const char* code;
    const char* error;
  };
  const Row rows[] = {
      {"queue_limt", "(did you mean queue_limit?)"},
      {"queue_l", "(did you mean queue_limit?)"},
      {"anything_else", "troubleshooting.md such as queue_limit"},
      {"", "\"\" is no reason code, expected one of docs/reference/troubleshooting.md such as queue_limit"},
  };
  for (const Row& row : rows) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(explain_reason({.code = row.code}), kUsage);
    const std::string error = testing::internal::GetCapturedStderr();
    EXPECT_NE(error.find(row.error), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace capstan::cli
