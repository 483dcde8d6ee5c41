#include "operator/loop/log.h"

#include <gtest/gtest.h>

namespace capstan::op {
namespace {

constexpr kube::WallTime kWall{1'795'277'733'000'001};

TEST(Log, ALineIsOneObject) {
  EXPECT_EQ(json_line({.level = LogLine::Level::info, .message = "leads"}, kWall),
            R"({"ts":"2026-11-21T16:15:33.000001Z","level":"info","msg":"leads"})");
  EXPECT_EQ(json_line({LogLine::Level::warning, "two\nlines", "InferenceScaler ns/chat", "signal_missing"}, kWall),
            R"({"ts":"2026-11-21T16:15:33.000001Z","level":"warning","msg":"two\u000alines",)"
            R"("object":"InferenceScaler ns/chat","reason":"signal_missing"})");
}

}  // namespace
}  // namespace capstan::op
