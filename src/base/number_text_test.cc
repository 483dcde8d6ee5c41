#include "base/number_text.h"

#include <gtest/gtest.h>

namespace capstan {
namespace {

using namespace std::chrono_literals;

TEST(NumberText, AWholeNumberHasSeparators) {
  EXPECT_EQ(grouped_text(0), "0");
  EXPECT_EQ(grouped_text(999), "999");
  EXPECT_EQ(grouped_text(19'366), "19,366");
  EXPECT_EQ(grouped_text(-1'234'567), "-1,234,567");
  EXPECT_EQ(grouped_text(INT64_MIN), "-9,223,372,036,854,775,808");
}

TEST(NumberText, ThousandthsAreADecimalNumber) {
  const std::pair<std::int64_t, const char*> rows[] = {
      {0, "0"},      {4000, "4"},  {3421, "3.4"}, {4004, "4"},     {4040, "4.04"},   {3960, "3.96"},
      {250, "0.25"}, {40, "0.04"}, {4, "0.004"},  {-1100, "-1.1"}, {12'345, "12.3"}, {1'234'500, "1234.5"},
  };
  for (const auto& [number, shown] : rows) EXPECT_EQ(decimal_text(number), shown) << number;
}

TEST(NumberText, MillionthsAreAPercentage) {
  const std::pair<std::int64_t, const char*> rows[] = {
      {0, "0 %"},      {850'000, "85 %"}, {995'000, "99.5 %"}, {1'083'000, "108.3 %"}, {2'625'000, "262.5 %"},
      {20, "0.002 %"}, {400, "0.04 %"},   {-50'000, "-5 %"},
  };
  for (const auto& [number, shown] : rows) EXPECT_EQ(percent_text(number), shown) << number;
}

TEST(NumberText, AnAmountHasCents) {
  const std::pair<std::int64_t, const char*> rows[] = {
      {0, "0.00 USD"},         {2'400'000, "2.40 USD"},         {800'000'000, "800.00 USD"},
      {1'999'999, "2.00 USD"}, {2'500, "0.0025 USD"},           {9'999, "0.01 USD"},
      {1, "0.000001 USD"},     {1'043'900'000, "1,043.90 USD"}, {-1'500'000, "-1.50 USD"},
  };
  for (const auto& [number, shown] : rows) EXPECT_EQ(usd_text({number}), shown) << number;
}

TEST(NumberText, ADurationHasAtMostTwoUnits) {
  const std::pair<Duration, const char*> rows[] = {
      {0s, "0 s"},           {40us, "0.04 ms"},       {250ms, "250 ms"},
      {48200us, "48.2 ms"},  {1500ms, "1.5 s"},       {1620ms, "1.62 s"},
      {2s, "2 s"},           {12500ms, "12.5 s"},     {59990ms, "59.9 s"},
      {999960us, "1 s"},     {59s, "59 s"},           {60s, "1 min"},
      {90s, "1 min 30 s"},   {129400ms, "2 min 9 s"}, {3600s, "1 h"},
      {5430s, "1 h 30 min"}, {86'400s, "1 d"},        {270'000s, "3 d 3 h"},
      {-3s, "-3 s"},         {-90s, "-1 min 30 s"},   {49h + 59min, "2 d 1 h"},
  };
  for (const auto& [duration, shown] : rows) EXPECT_EQ(time_text(duration), shown);
}

}  // namespace
}  // namespace capstan
