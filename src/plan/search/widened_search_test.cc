#include "plan/search/widened_search.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/testing/sample_specs.h"

namespace capstan::plan {
namespace {

/// One candidate under a load that needs several times the replicas that the engine table states.
class WidenedSearchTest : public ::testing::Test {
 protected:
  WidenedSearchTest() : spec_(sample_specs::small_spec()) {
    spec_.services[0].load.burst_factor = 1;
    spec_.services[0].load.requests_per_s = 45;
    spec_.services[0].load.duration = std::chrono::minutes(10);
    load_ = count_load(spec_.services[0]).value();
    candidates_ = fleet_candidates(spec_, spec_.services[0], load_, {}).value();
    candidates_.resize(1);
    need().at_peak = std::max<ReplicaCount>(1, need().at_peak / 4);
  }

  RoleNeed& need() { return candidates_[0].needs[0]; }
  FinishedSearch search() {
    return find_fleets_widened(spec_, spec_.services[0], load_, candidates_, budget_of(load_, 1), {}).value();
  }

  PlanSpec spec_;
  LoadFacts load_{};
  std::vector<FleetCandidate> candidates_{};
};

TEST_F(WidenedSearchTest, TriesLargerFleetsIfTheLargestMissesTheSlo) {
  const FinishedSearch search_result = search();
  const TriedFleet& best = search_result.simulator->tried().at(search_result.found.best);
  EXPECT_TRUE(best.holds_slo);
  EXPECT_GT(best.fleet.candidate->peak_factor, 1);
  EXPECT_GT(best.fleet.maximum[0], 2 * need().at_peak + 1) << "no fleet of the first search is so large";
  EXPECT_GT(search_result.dropped_simulations, 0);
}

TEST_F(WidenedSearchTest, KeepsTheLimits) {
  candidates_[0].most_replicas = 2 * need().at_peak;
  const FinishedSearch search_result = search();
  EXPECT_FALSE(search_result.simulator->tried().at(search_result.found.best).holds_slo);
  EXPECT_EQ(search_result.dropped_simulations, 0) << "no larger fleet is possible";
}

TEST_F(WidenedSearchTest, SearchesOnceIfTheFleetsAreLargeEnough) {
  candidates_ = fleet_candidates(spec_, spec_.services[0], load_, {}).value();
  candidates_.resize(1);
  const FinishedSearch search_result = search();
  EXPECT_EQ(search_result.dropped_simulations, 0);
  EXPECT_TRUE(too_small_candidates(*search_result.simulator, search_result.found).empty());
}

TEST(Widen, DoublesTheNeedAtThePeak) {
  FleetCandidate candidate;
  candidate.needs.resize(2);
  candidate.needs[1].at_peak = 3;
  widen(candidate);
  EXPECT_EQ(candidate.peak_factor, 2);
  EXPECT_EQ(candidate.needs[0].at_peak, 2);
  EXPECT_EQ(candidate.needs[1].at_peak, 6);
}

}  // namespace
}  // namespace capstan::plan
