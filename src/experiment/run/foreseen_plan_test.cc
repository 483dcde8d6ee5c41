#include "experiment/run/foreseen_plan.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace capstan::experiment {
namespace {

using namespace std::chrono_literals;

std::vector<ReplicaCount> asked(const Script& script, std::int64_t bins) {
  std::vector<ReplicaCount> all;
  for (std::int64_t i = 0; i < bins; ++i) all.push_back(script({10s * i + 5s}));
  return all;
}

TEST(ForeseenPlan, StartsOneLeadTimeEarlyAndKeepsTheLastLevel) {
  const std::vector<double> level = {1, 1, 1, 4, 1, 1};
  EXPECT_EQ(asked(foreseen_plan(level, 10s, 0, 15s, 0, 9), 8), (std::vector<ReplicaCount>{1, 4, 4, 4, 1, 1, 1, 1}));
}

TEST(ForeseenPlan, IsRaisedByAShareAndRoundedUp) {
  const std::vector<double> level = {1.0000000001, 1.2, 8, 0};
  EXPECT_EQ(asked(foreseen_plan(level, 10s, 0, 0s, 0, 9), 4), (std::vector<ReplicaCount>{1, 2, 8, 0}));
  EXPECT_EQ(asked(foreseen_plan(level, 10s, 100'000, 0s, 1, 9), 4), (std::vector<ReplicaCount>{2, 2, 9, 1}));
}

RC_GTEST_PROP(ForeseenPlan, AtEveryMomentIsTheMostOfTheNextLead, ()) {
  const auto counts = *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 20)));
  const std::vector<double> level(counts.begin(), counts.end());
  const std::int64_t ahead = *rc::gen::inRange(0, 8);
  const Script script = foreseen_plan(level, 10s, 0, 10s * ahead, 0, 100);
  const auto bins = static_cast<std::int64_t>(counts.size());
  for (std::int64_t i = 0; i < bins; ++i) {
    const auto from = counts.begin() + i;
    RC_ASSERT(script({10s * i}) == *std::max_element(from, from + std::min(ahead + 1, bins - i)));
  }
}

}  // namespace
}  // namespace capstan::experiment
