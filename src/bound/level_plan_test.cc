#include "bound/level_plan.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace capstan::bound {
namespace {

using Bins = std::vector<double>;

double cost_of(const LevelPlan& plan, double start_bins) { return plan.paid + start_bins * plan.starts; }

/// Returns the lowest cost over all plans of whole replicas up to the highest demand.
double cheapest_of_all(const Bins& demand, double start_bins, double before, std::size_t bin = 0) {
  if (bin == demand.size()) return 0;
  const double most = *std::ranges::max_element(demand);
  double best = 1e300;
  for (double level = demand[bin]; level <= most; ++level) {
    const double started = std::max(level - before, 0.0);
    best = std::min(best, level + start_bins * started + cheapest_of_all(demand, start_bins, level, bin + 1));
  }
  return best;
}

TEST(LevelPlan, KeepsAReplicaOnlyThroughAShortGap) {
  const Bins demand = {1, 0, 0, 1, 0, 0, 0, 0, 1};
  const LevelPlan plan = cheapest_levels(demand, 3, 0);
  EXPECT_EQ(plan.level, (Bins{1, 1, 1, 1, 0, 0, 0, 0, 1}));
  EXPECT_EQ(plan.starts, 2);
  EXPECT_EQ(plan.paid, 5);
}

TEST(LevelPlan, EachLevelHasItsOwnGap) {
  const LevelPlan plan = cheapest_levels(Bins{3, 1, 2, 1, 1, 3}, 2, 0);
  EXPECT_EQ(plan.level, (Bins{3, 2, 2, 2, 2, 3}));  // gaps of replica 2: 1 and 2 bins; of replica 3: 4 bins
  EXPECT_EQ(plan.starts, 4);
}

TEST(LevelPlan, InitialReplicasAreNotStarted) {
  EXPECT_EQ(cheapest_levels(Bins{2, 2}, 9, 2).starts, 0);
  EXPECT_EQ(cheapest_levels(Bins{0, 2}, 9, 3).starts, 0);
  EXPECT_EQ(cheapest_levels(Bins{0, 2}, 9, 3).level, (Bins{2, 2}));
  EXPECT_EQ(cheapest_levels(Bins{0, 2}, 0.5, 3).starts, 2);
}

TEST(LevelPlan, FractionsOfReplicasAreLevelsToo) {
  const LevelPlan plan = cheapest_levels(Bins{1.5, 0.5, 1.25}, 2, 0);
  EXPECT_EQ(plan.level, (Bins{1.5, 1.25, 1.25}));
  EXPECT_EQ(plan.starts, 1.5);
}

RC_GTEST_PROP(LevelPlan, NoPlanOfWholeReplicasIsCheaper, ()) {
  const auto counts = *rc::gen::resize(6, rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4)));
  if (counts.empty()) return;
  const Bins demand(counts.begin(), counts.end());
  const double start_bins = *rc::gen::inRange(0, 12) / 2.0;
  const double initial = *rc::gen::inRange(0, 4);
  const LevelPlan plan = cheapest_levels(demand, start_bins, initial);
  for (std::size_t i = 0; i < demand.size(); ++i) RC_ASSERT(plan.level[i] >= demand[i]);
  RC_ASSERT(cost_of(plan, start_bins) == cheapest_of_all(demand, start_bins, initial));
}

}  // namespace
}  // namespace capstan::bound
