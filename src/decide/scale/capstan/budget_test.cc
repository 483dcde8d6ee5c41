// Goal: misses raise what is kept in hand and their absence lowers it, within bounds, and each kind of miss its own
// part.
#include "decide/scale/capstan/budget.h"

#include <gtest/gtest.h>

namespace capstan::decide::scale {
namespace {

using std::chrono::seconds;

/// So many decisions, five seconds apart.
void spend(int decisions, double missed_share, double use, bool as_planned, CapstanMemory& memory) {
  for (int i = 0; i < decisions; ++i) spend_budget({missed_share, use, 0.99, as_planned, seconds(5)}, memory);
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

TEST(Budget, WhatReplicasMissThoughAsManyServeAsPlannedKeepsThemEmptier) {
  CapstanMemory memory;
  memory.safety_milli = 1600;
  spend(60, 0.5, 0.9, false, memory);
  EXPECT_EQ(memory.slack_ppm, 0) << "too few served: that is the forecast's to mend";
  spend(60, 0.007, 0.9, true, memory);
  const std::int64_t slack_ppm = memory.slack_ppm;
  EXPECT_NEAR(static_cast<double>(slack_ppm), 40'000, 100) << "twice of what is planned for, over five minutes";
  spend(60, 0.0035, 0.9, true, memory);
  EXPECT_NEAR(static_cast<double>(memory.slack_ppm), static_cast<double>(slack_ppm), 100) << "in balance";
  spend(60, 0, 0.9, true, memory);
  EXPECT_LT(memory.slack_ppm, 1000);
  spend(100'000, 1, 0.9, true, memory);
  EXPECT_EQ(memory.slack_ppm, 1'500'000);
}

/// After minutes in which replicas that were mostly empty missed a fifth.
CapstanMemory after_empty_ones_missed() {
  CapstanMemory memory;
  memory.safety_milli = 1600;
  spend(60, 0.2, 0.3, true, memory);
  return memory;
}

TEST(Budget, WhatEmptyReplicasMissDoesNotMakeBusyOnesBolder) {
  CapstanMemory memory = after_empty_ones_missed();
  const std::int64_t before = memory.safety_milli;
  spend(12, 0.05, 0.9, true, memory);
  EXPECT_GE(memory.safety_milli, before - 12) << "a minute that misses less than that lowers it as one without misses";
}

TEST(Budget, WhatEmptyReplicasMissAsWellIsNotMendedByMoreOfThem) {
  CapstanMemory memory = after_empty_ones_missed();
  const std::int64_t before = memory.safety_milli;
  spend(600, 0.2, 0.9, true, memory);
  EXPECT_LE(memory.safety_milli, before);
}

}  // namespace
}  // namespace capstan::decide::scale
