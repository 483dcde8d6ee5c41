// Goal: misses raise the safety margins and their absence lowers them, within bounds, and each kind of miss adjusts its
// own margin.
#include "decide/scale/capstan/budget.h"

#include <gtest/gtest.h>

namespace capstan::decide::scale {
namespace {

using std::chrono::seconds;

/// Applies the same observation for `decisions` decisions, 5 s apart.
void spend(int decisions, double missed_share, double use, bool as_planned, CapstanMemory& memory) {
  for (int i = 0; i < decisions; ++i) adjust_safety_margins({missed_share, use, 0.99, as_planned, seconds(5)}, memory);
}

TEST(Budget, MissesRaiseTheSafetyAndTheirAbsenceLowersItWithinBounds) {
  CapstanMemory memory;
  memory.safety_milli = 1600;
  spend(60, 0.5, 0.9, false, memory);
  const std::int64_t raised = memory.safety_milli;
  EXPECT_GT(raised, 1600);
  spend(600, 0, 0.9, true, memory);
  EXPECT_LT(memory.safety_milli, raised);
  spend(100'000, 0, 0.9, true, memory);
  EXPECT_EQ(memory.safety_milli, 1000);
  spend(100'000, 1, 0.9, true, memory);
  EXPECT_EQ(memory.safety_milli, 4000);
}

TEST(Budget, MissesWithThePlannedReplicasRaiseTheSlack) {
  CapstanMemory memory;
  memory.safety_milli = 1600;
  spend(60, 0.5, 0.9, false, memory);
  EXPECT_EQ(memory.slack_ppm, 0) << "too few replicas served: a forecast error, not slack";
  spend(60, 0.007, 0.9, true, memory);
  const std::int64_t slack_ppm = memory.slack_ppm;
  EXPECT_NEAR(static_cast<double>(slack_ppm), 40'000, 100) << "twice the planned misses for five minutes";
  spend(60, 0.0035, 0.9, true, memory);
  EXPECT_NEAR(static_cast<double>(memory.slack_ppm), static_cast<double>(slack_ppm), 100)
      << "exactly the planned misses";
  spend(60, 0, 0.9, true, memory);
  EXPECT_LT(memory.slack_ppm, 1000);
  spend(100'000, 1, 0.9, true, memory);
  EXPECT_EQ(memory.slack_ppm, 1'500'000);
}

/// Returns a memory after five minutes in which mostly idle replicas missed a fifth of the requests.
CapstanMemory memory_after_idle_misses() {
  CapstanMemory memory;
  memory.safety_milli = 1600;
  spend(60, 0.2, 0.3, true, memory);
  return memory;
}

TEST(Budget, MissesOnIdleReplicasDoNotLowerTheSafetyOfBusyOnesFaster) {
  CapstanMemory memory = memory_after_idle_misses();
  const std::int64_t before = memory.safety_milli;
  spend(12, 0.05, 0.9, true, memory);
  EXPECT_GE(memory.safety_milli, before - 12) << "a minute with fewer misses lowers it like a minute without any";
}

TEST(Budget, MissesThatIdleReplicasHaveTooDoNotRaiseTheSafety) {
  CapstanMemory memory = memory_after_idle_misses();
  const std::int64_t before = memory.safety_milli;
  spend(600, 0.2, 0.9, true, memory);
  EXPECT_LE(memory.safety_milli, before);
}

}  // namespace
}  // namespace capstan::decide::scale
