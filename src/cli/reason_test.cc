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

TEST(ExplainReason, AnUnknownCodeIsAUsageError) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(explain_reason({.code = "queue"}), kUsage);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("\"queue\" is no reason code"), std::string::npos);
}

}  // namespace
}  // namespace capstan::cli
