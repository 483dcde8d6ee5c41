// Goal: the forecast is never below the demand now, and the window keeps the highest need.
#include "decide/scale/capstan/forecast.h"

#include <gtest/gtest.h>

namespace capstan::decide::scale {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

Instant at_s(std::int64_t s) { return {seconds(s)}; }

TEST(Outlook, OnlyAdds) {
  CapstanMemory memory;
  memory.observed = minutes(5);
  double demand = 10;
  for (int i = 1; i < 400; ++i) {
    demand *= i % 200 < 100 ? 1.005 : 0.995;
    const Outlook outlook = look_ahead(demand, 0.05, seconds(120), seconds(5), memory, at_s(i * 5));
    EXPECT_GE(outlook.forecast, demand);
    EXPECT_GE(outlook.needed, outlook.forecast);
  }
  EXPECT_LE(memory.forecasts.size(), CapstanMemory::kMaxForecasts);
}

TEST(Outlook, ForecastsALinearRise) {
  CapstanMemory memory;
  Outlook outlook;
  for (int i = 0; i < 200; ++i) outlook = look_ahead(10 + 0.02 * i, 0, seconds(300), seconds(5), memory, at_s(i * 5));
  const double then = 10 + 0.02 * 259;
  EXPECT_NEAR(outlook.forecast, then, 0.25) << "0.02 per 5 s, 300 s ahead";
}

TEST(Window, KeepsTheHighestNeedForTheLengthOfTheWindow) {
  CapstanMemory memory;
  for (int i = 0; i <= 600; ++i) record_need(i == 100 ? 9 : 2 + 0.001 * (i % 7), minutes(60), memory, at_s(i * 5));
  EXPECT_DOUBLE_EQ(highest_need(memory, at_s(500)), 9);
  EXPECT_LT(highest_need(memory, at_s(505)), 3);
  for (int i = 1000; i > 0; --i) record_need(i, minutes(60), memory, at_s(6000 - i));
  EXPECT_LE(memory.need_peaks.size(), CapstanMemory::kMaxNeeds);
  EXPECT_DOUBLE_EQ(highest_need(memory, at_s(5000)), 1000) << "a full list merges entries and never drops the maximum";
}

TEST(Window, HasTheStatedLengthThroughAnHourOfSteadyDecline) {
  CapstanMemory memory;
  const auto need = [](int i) { return 200 - 0.1 * i; };
  for (int i = 0; i <= 720; ++i) {
    record_need(need(i), minutes(60), memory, at_s(i * 5));
    for (const int steps : {12, 48, 120, 240}) {
      if (i < 2 * steps) continue;
      EXPECT_GE(highest_need(memory, at_s((i - steps) * 5)), need(i - steps) - 0.001) << i << ' ' << steps;
      EXPECT_LE(highest_need(memory, at_s((i - steps) * 5)), need(i - steps * 5 / 4 - 1)) << i << ' ' << steps;
    }
  }
}

}  // namespace
}  // namespace capstan::decide::scale
