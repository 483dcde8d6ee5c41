#include "base/unit_text.h"

#include <gtest/gtest.h>

namespace capstan {
namespace {

using namespace std::chrono_literals;

TEST(UnitText, ACountHasItsNoun) {
  EXPECT_EQ(count_text(0, "replica", "replicas"), "0 replicas");
  EXPECT_EQ(count_text(1, "replica", "replicas"), "1 replica");
  EXPECT_EQ(count_text(19'366, "query", "queries"), "19,366 queries");
}

TEST(UnitText, APriceOfAMonthHasNoCents) {
  EXPECT_EQ(usd_per_month_text({55'040'000}), "40,179");  // 40,179.20
  EXPECT_EQ(usd_per_month_text({80'190'000}), "58,539");  // 58,538.70
  EXPECT_EQ(usd_per_month_text({0}), "0");
  EXPECT_EQ(usd_per_month_text({-80'190'000}), "-58,539");
}

TEST(UnitText, ATimeWithABoundHasThreeDigits) {
  const std::pair<Duration, const char*> rows[] = {
      {0s, "0 ms"},        {6834us, "6.83 ms"}, {8760us, "8.76 ms"}, {230ms, "230 ms"},  {999'600us, "1 s"},
      {1'524ms, "1.52 s"}, {20ms, "20 ms"},     {40us, "0.04 ms"},   {1'234s, "1230 s"}, {-15ms, "-15 ms"},
  };
  for (const auto& [duration, shown] : rows) EXPECT_EQ(three_digit_time_text(duration), shown);
}

}  // namespace
}  // namespace capstan
