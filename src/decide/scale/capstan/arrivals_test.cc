// Goal: bursts of long prompts count as noise, and a rising load does not.
#include "decide/scale/capstan/arrivals.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace capstan::decide::scale {
namespace {

using std::chrono::seconds;

constexpr double kPrompt = 500;

/// Feeds constant prompt tokens/s over scrapes of 15 s, each seen by three decisions. Returns the last estimate.
Arrivals feed(double tokens_per_s, int scrapes, CapstanMemory& memory) {
  Load load;
  load.prompt_rate = tokens_per_s;
  Shape shape;
  shape.prompt = kPrompt;
  Arrivals last;
  for (int i = 0; i < 3 * scrapes; ++i) last = learn_arrivals(load, shape, seconds(5), memory);
  return last;
}

TEST(Arrivals, AnEvenLoadIsEstimatedExactly) {
  CapstanMemory memory;
  const Arrivals even = feed(20'000, 100, memory);
  EXPECT_DOUBLE_EQ(even.tokens_per_s, 20'000);
  EXPECT_NEAR(even.noise, 0.058, 0.001) << "600 prompts in 15 s, with exponentially distributed lengths";
}

TEST(Arrivals, BurstsOfLongPromptsAreNotARisingLoad) {
  CapstanMemory memory;
  double most = 0;
  for (int i = 0; i < 100; ++i) {
    feed(20'000, 3, memory);
    const Arrivals burst = feed(36'000, 1, memory);
    if (i >= 20) most = std::max(most, burst.tokens_per_s);
  }
  EXPECT_LT(most, 26'500) << "24,000 on average";
  EXPECT_GT(feed(20'000, 1, memory).noise, 0.2);
}

TEST(Arrivals, AStepIsDetectedImmediately) {
  CapstanMemory even;
  feed(4'000, 40, even);
  EXPECT_DOUBLE_EQ(feed(20'000, 1, even).tokens_per_s, 20'000);
  CapstanMemory bursty;
  for (int i = 0; i < 40; ++i) feed(i % 4 == 0 ? 6'000 : 3'400, 1, bursty);
  EXPECT_GT(feed(20'000, 1, bursty).tokens_per_s, 19'000);
}

TEST(Arrivals, AFallBeyondChanceIsDetectedWithinABlock) {
  CapstanMemory even;
  feed(20'000, 40, even);
  feed(2'000, 1, even);
  EXPECT_LT(feed(2'000, 1, even).tokens_per_s, 2'001);
  CapstanMemory few;
  feed(400, 40, few);
  feed(100, 1, few);
  EXPECT_GT(feed(100, 1, few).tokens_per_s, 250) << "nine prompts fewer in 15 s may be chance";
}

TEST(Arrivals, TheEstimateFollowsARamp) {
  CapstanMemory memory;
  double rate = 5'000;
  Arrivals seen;
  for (int i = 0; i < 40; ++i, rate *= 1.02) seen = feed(rate, 1, memory);
  EXPECT_GT(seen.tokens_per_s, 0.9 * rate);
}

}  // namespace
}  // namespace capstan::decide::scale
