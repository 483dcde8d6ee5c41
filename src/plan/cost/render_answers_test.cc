#include "plan/cost/render_answers.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace capstan::plan {
namespace {

const std::vector<Statement> kAnswers = {{.name = "warm pool", .value = "58,400.00 USD/month", .why = "2 x 730 h"},
                                         {.name = "idle GPUs", .value = "1.00 USD/h", .why = "30 % of 3.33 USD/h"}};

TEST(RenderAnswers, TheTextHasTheFormulaBelowEachAnswer) {
  EXPECT_EQ(answers_text(kAnswers),
            "warm pool: 58,400.00 USD/month\n  2 x 730 h\nidle GPUs: 1.00 USD/h\n  30 % of 3.33 USD/h\n");
}

TEST(RenderAnswers, TheJsonNamesEachAnswerWithoutSpaces) {
  const auto json = nlohmann::json::parse(answers_json(kAnswers));
  EXPECT_EQ(json["format_version"], 1);
  ASSERT_EQ(json["answers"].size(), 2u);
  EXPECT_EQ(json["answers"][0]["name"], "warm_pool");
  EXPECT_EQ(json["answers"][1]["value"], "1.00 USD/h");
  EXPECT_EQ(json["answers"][1]["formula"], "30 % of 3.33 USD/h");
}

}  // namespace
}  // namespace capstan::plan
