#include "experiment/report/result_words.h"

#include <gtest/gtest.h>

namespace capstan::experiment {
namespace {

TEST(ResultWords, CountsIdleMinutesOfAllStatesWithoutWork) {
  RunResult result;
  constexpr std::int64_t kMinute = 60'000'000'000;
  for (std::size_t state = 0; state < kGpuStates; ++state) result.gpu_ns[state] = kMinute << (2 * state);
  std::int64_t expected = 0;
  for (const GpuState state : {GpuState::idle, GpuState::sleeping, GpuState::held, GpuState::unallocated}) {
    expected += std::int64_t{1} << (2 * static_cast<std::size_t>(state));
  }
  EXPECT_EQ(idle_gpu_minutes(result), expected);
}

TEST(ResultWords, NamesBrokenInvariantsOnly) {
  RunResult result;
  EXPECT_EQ(broken_words(result), "");
  result.invariants.partial_gang = 12;
  result.invariants.work_cut = 1;
  EXPECT_EQ(broken_words(result), "broken invariants: 12 gangs partly placed, 1 request cut by a decision");
  result.invariants.work_cut = 0;
  result.invariants.jobs_restarted = 2;
  EXPECT_EQ(broken_words(result), "broken invariants: 12 gangs partly placed, 2 jobs restarted by decisions");
  EXPECT_EQ(result.invariants.total(), 14);
}

TEST(ResultWords, ASmallDifferenceOfCostIsNotNone) {
  const auto of_cents = [](std::int64_t cents) {
    RunResult result;
    result.cost_micro_usd[0] = cents * 10'000;
    return result;
  };
  EXPECT_EQ(cost_against(of_cents(404'393), of_cents(403'384)), "under 1 % more than");
  EXPECT_EQ(cost_against(of_cents(403'384), of_cents(404'393)), "under 1 % less than");
  EXPECT_EQ(cost_against(of_cents(403'384), of_cents(403'384)), "as much as");
  EXPECT_EQ(cost_against(of_cents(200), of_cents(100)), "100 % more than");
}

}  // namespace
}  // namespace capstan::experiment
