#include "plan/search/trials.h"

#include <gtest/gtest.h>

#include "plan/search/budget.h"

namespace capstan::plan {
namespace {

using namespace std::chrono_literals;

experiment::RunResult result_with(std::vector<RequestCount> arrived, std::vector<RequestCount> met) {
  experiment::RunResult result;
  for (std::size_t i = 0; i < arrived.size(); ++i) result.minutes.push_back({.arrived = arrived[i], .met = met[i]});
  result.simulated = std::chrono::minutes(arrived.size());
  return result;
}

TEST(Goodput, IsThatOfTheFiveMinutesWithTheMostArrivals) {
  // From the third minute on, 5 x 60 requests arrive, and 240 of them are met.
  const auto result = result_with({10, 10, 60, 60, 60, 60, 60, 10}, {10, 10, 60, 60, 30, 30, 60, 10});
  EXPECT_EQ(goodput_milli(result.minutes, result.simulated), 800);
}

TEST(Goodput, OfAShortSimulationIsThatOfItsLength) {
  const experiment::RunResult half = result_with({120, 120}, {120, 60});
  EXPECT_EQ(goodput_milli(half.minutes, half.simulated), 1500);
  EXPECT_EQ(goodput_milli({}, {}), 0);
}

TEST(Trials, CountLongPromptsAsSeveralRequests) {
  experiment::RunResult result = result_with({600}, {600});
  result.requests.arrived = 600;
  result.prompt_tokens = 600 * kPromptTokensOfRequest / 2;
  EXPECT_EQ(counted_requests(result), 600);
  result.prompt_tokens = 600 * kPromptTokensOfRequest * 4;
  EXPECT_EQ(counted_requests(result), 2400);
}

}  // namespace
}  // namespace capstan::plan
