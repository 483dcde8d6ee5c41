#include "cli/cost.h"

#include <gtest/gtest.h>

namespace capstan::cli {
namespace {

ExitCode cost_silently(const CostArguments& arguments, std::string& out, std::string& error) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const ExitCode code = cost(arguments);
  out = testing::internal::GetCapturedStdout();
  error = testing::internal::GetCapturedStderr();
  return code;
}

TEST(CostCommand, PrintsTheAnswerAndItsFormula) {
  CostArguments arguments;
  arguments.replicas = 2;
  arguments.gpus_per_replica = 4;
  arguments.usd_per_gpu_hour = "10";
  std::string out, error;
  EXPECT_EQ(cost_silently(arguments, out, error), kOk);
  EXPECT_EQ(out, "warm pool: 58,400 USD/month\n  2 replicas x 4 GPUs x 10.00 USD for a GPU-hour x 730 h\n");
}

TEST(CostCommand, AnswersForAMonthAndAMillionTokens) {
  CostArguments arguments;
  arguments.question = CostQuestion::tokens;
  arguments.usd_per_hour = "36";
  arguments.tokens_per_s = 1000;
  std::string out, error;
  EXPECT_EQ(cost_silently(arguments, out, error), kOk);
  EXPECT_EQ(out,
            "machines: 26,280 USD/month\n  36.00 USD/h x 730 h\nmillion answer tokens: 10.00 USD\n  36.00 USD/h / "
            "(1000 tokens/s x 3,600 s) x 1,000,000\n");
}

TEST(CostCommand, RefusesWhatIsNoNumber) {
  struct Case {
    CostQuestion question;
    std::string CostArguments::* field;
    std::string text;
    std::string message;
  };
  const Case cases[] = {
      {CostQuestion::warm_pool, &CostArguments::usd_per_gpu_hour, "cheap", "--usd-per-gpu-hour: found 'cheap'"},
      {CostQuestion::idle, &CostArguments::idle, "130%", "--idle: found '130%', expected a share"},
      {CostQuestion::consolidation, &CostArguments::cold_start, "4", "--cold-start: found '4', expected a duration"},
      {CostQuestion::serverless, &CostArguments::staff_share, "-1%", "--staff-share: found '-1%'"},
      {CostQuestion::serverless, &CostArguments::staff_share, "10001%", "--staff-share: found '10001%'"},
  };
  for (const Case& c : cases) {
    CostArguments arguments;
    arguments.question = c.question;
    arguments.usd_per_gpu_hour = arguments.usd_per_hour = "10";
    arguments.*c.field = c.text;
    std::string out, error;
    EXPECT_EQ(cost_silently(arguments, out, error), kUsage) << c.text;
    EXPECT_NE(error.find(c.message), error.npos) << error;
    EXPECT_EQ(out, "");
  }
}

TEST(CostCommand, TakesTheTimeOfSeveralEngineersAsASpecDoes) {
  CostArguments arguments;
  arguments.question = CostQuestion::serverless;
  arguments.usd_per_hour = "100";
  arguments.staff_share = "150%";
  std::string out, error;
  EXPECT_EQ(cost_silently(arguments, out, error), kOk) << error;
  EXPECT_NE(out.find("staff: 20,000 USD/month"), out.npos) << out;  // 1.5 x 160,000 USD / 12
}

TEST(CostCommand, WritesJson) {
  CostArguments arguments;
  arguments.question = CostQuestion::idle;
  arguments.usd_per_hour = "100";
  arguments.output = Output::json;
  std::string out, error;
  EXPECT_EQ(cost_silently(arguments, out, error), kOk);
  EXPECT_TRUE(out.starts_with("{\n  \"format_version\": 1,")) << out;
  EXPECT_NE(out.find("\"name\": \"idle_GPUs\""), out.npos);
}

}  // namespace
}  // namespace capstan::cli
